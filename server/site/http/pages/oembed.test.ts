// Requests as such; test/embeds.test.ts sends them.
import { expect, test } from 'vitest'
import { parseOembedRequest } from './oembed.ts'

const session = { streamer: 'a b', date: '2026-01-31', sessionId: 'Zoë' }
const PATH = '/p/a%20b/2026-01-31/Zo%C3%AB'

test.each([
  ['https://site.example', `https://site.example${PATH}`],
  ['https://site.example', `http://site.example${PATH}/`],
  ['https://site.example', `https://site.example/p/a%20b/2026-01-31/Zoe%CC%88#x`],
  ['http://127.0.0.1:8080', `http://127.0.0.1:8080${PATH}?utm=1`],
  ['https://site.example/vod', `https://site.example/vod${PATH}`],
])('a site at %s has the player page %s', (origin, url) => {
  const found = parseOembedRequest({ url }, origin)
  expect(found).toEqual({ session, query: '', maxWidth: Infinity, maxHeight: Infinity })
})

test.each([
  ['https://site.example', 'https://site.example/p/a%2Fb/2026-01-31/1'],
  ['https://site.example', `https://site.example:8443/p/a/2026-01-31/1`],
  ['https://site.example', 'ftp://site.example/p/a/2026-01-31/1'],
  ['https://site.example', 'https://site.example/p/a/2026-01-31'],
  ['https://site.example', 'https://site.example/p/a/2026-01-31/1/2'],
  ['https://site.example', 'https://site.example/p/a/%2e%2e/1'],
  ['https://site.example', 'https://site.example/p/a/%zz/1'],
  ['https://site.example', 'https://site.example/p//2026-01-31/1'],
  ['https://site.example/vod', 'https://site.example/p/a/2026-01-31/1'],
  ['https://site.example/vod', 'https://site.example/vodp/a/2026-01-31/1'],
  ['https://site.example', `https://site.example/p/a/b/${'c'.repeat(20_000)}`],
])('a site at %s has no player page %s', (origin, url) => {
  expect(() => parseOembedRequest({ url }, origin)).toThrow('this is not the URL of a session')
})
