import { describe, expect, it, test } from 'vitest'
import { addBasePathToHtml, belowBasePath, formatSiteUrl, parseTarget } from './base-path.ts'

test('paths of the site are below the base path', () => {
  expect(['', '/tv', '/a/b'].map((basePath) => belowBasePath(basePath)('/s/alice'))).toEqual([
    '/s/alice',
    '/tv/s/alice',
    '/a/b/s/alice',
  ])
})

describe('parseTarget', () => {
  it.each([
    ['/tv/', '/'],
    ['/tv/?page=2', '/?page=2'],
    ['/tv/s/alice?x=/tv/', '/s/alice?x=/tv/'],
    ['/tv/tv/', '/tv/'],
    ['/tv//host', '//host'],
    ['/tv/healthz', '/healthz'],
    ['/healthz', '/healthz'],
    ['/readyz?now', '/readyz?now'],
    ['http://a.example/tv/s/alice?x', '/s/alice?x'],
    ['HTTPS://a.example:8443/tv/', '/'],
  ])('%s is %s of the site', (url, expected) => {
    expect(parseTarget(url, '/tv')).toEqual({ kind: 'site', url: expected })
  })

  it.each([
    ['/', '/tv/'],
    ['/tv', '/tv/'],
    ['/tv?page=2', '/tv/?page=2'],
    ['/?page=2', '/tv/?page=2'],
    ['http://a.example?page=2', '/tv/?page=2'],
  ])('%s is the home page, at %s', (url, expected) => {
    expect(parseTarget(url, '/tv')).toEqual({ kind: 'home', url: expected })
  })

  it.each([
    '/s/alice',
    '/tvs/',
    '/TV/',
    '/%74v/',
    '/radio/tv/',
    '//tv/',
    'http://a.example/s/',
    '*',
  ])('%s is outside', (url) => {
    expect(parseTarget(url, '/tv')).toEqual({ kind: 'outside' })
  })

  it.each(['/', '/s/alice', '//host', '/?x', '*'])(
    'without a base path, %s is of the site',
    (url) => {
      expect(parseTarget(url, '')).toEqual({ kind: 'site', url })
    },
  )

  it('accepts the absolute form without a base path', () => {
    const target = parseTarget('http://a.example/api/streamers?x=http://b.example/', '')
    expect(target).toEqual({ kind: 'site', url: '/api/streamers?x=http://b.example/' })
  })
})

test.each([
  ['https://a.example', '', 'https://a.example'],
  ['https://a.example/', '', 'https://a.example'],
  ['https://a.example/', '/tv', 'https://a.example/tv'],
  ['https://a.example/tv/', '/tv', 'https://a.example/tv'],
  ['https://tv', '/tv', 'https://tv/tv'],
  ['http://[::1]:8080', '/a/b', 'http://[::1]:8080/a/b'],
])('the site at %s below "%s" is at %s', (url, basePath, expected) => {
  expect(formatSiteUrl(url, basePath)).toBe(expected)
})

describe('addBasePathToHtml', () => {
  const html = [
    '<!doctype html>',
    '<html lang="en"><link rel="icon" href="/favicon.ico"><script src="/assets/a.js"></script>',
    '<a href="https://a.example/" data-href="/b" title=\'href="/c"\'></a><a href="//d.example/">',
  ].join('\n')

  it('changes nothing at the root', () => {
    expect(addBasePathToHtml(html, '')).toBe(html)
  })

  it('passes the base path to the scripts, and precedes the paths of links and scripts', () => {
    const placed = addBasePathToHtml(html, '/tv')
    expect(placed).toContain('<html data-base-path="/tv" lang="en">')
    expect(placed.match(/"[^"]*\/[^"]*"/g)).toEqual([
      '"/tv"',
      '"/tv/favicon.ico"',
      '"/tv/assets/a.js"',
      '"https://a.example/"',
      '"/b"',
      '"/c"',
      '"//d.example/"',
    ])
  })
})
