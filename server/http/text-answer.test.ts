import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { addVary, chooseEncoding, TextAnswer } from './text-answer.ts'

describe('chooseEncoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip , deflate', 'gzip'],
    ['hasOwnProperty', 'identity'],
    ['br', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*', 'gzip'],
    ['gzip;q=0, *', 'identity'],
    // What Chromium's own HLS player sends; it cannot read brotli.
    ['gzip, identity;q=1, *;q=0', 'gzip'],
    ['brotli-like', 'identity'],
  ])('answers %j with %s', (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding)
  })
})

describe('TextAnswer', () => {
  it('gives the same text in every encoding', async () => {
    const text = 'one two three '.repeat(200)
    const answer = new TextAnswer(text, { contentType: 'text/plain', cacheControl: 'no-cache' })
    expect((await answer.bytes('identity')).toString()).toBe(text)
    expect(gunzipSync(await answer.bytes('gzip')).toString()).toBe(text)
    expect(brotliDecompressSync(await answer.bytes('br')).toString()).toBe(text)
  })

  it('has an ETag that changes with the text alone', () => {
    const options = { contentType: 'text/plain', cacheControl: 'no-cache' }
    expect(new TextAnswer('a', options).etag).toBe(new TextAnswer('a', options).etag)
    expect(new TextAnswer('a', options).etag).not.toBe(new TextAnswer('b', options).etag)
  })
})

describe('addVary', () => {
  it('adds a name once', () => {
    expect(addVary(undefined, 'Accept')).toBe('Accept')
    expect(addVary('Origin', 'Accept')).toBe('Origin, Accept')
    expect(addVary('Origin, accept', 'Accept')).toBe('Origin, accept')
  })
})
