import { describe, expect, it } from 'vitest'
import { decodableUrl } from './malformed-request.ts'

describe('decodableUrl', () => {
  it.each([
    '/',
    '/api/sessions/a%20b',
    '/s/%E6%97%A5%E6%9C%AC?x=%zz',
    '/s/%00',
    '/s/%2e%2e%2f',
    '/a?b=%',
  ])('does not change %s', (url) => {
    expect(decodableUrl(url)).toBe(url)
  })

  it.each([
    ['/s/%zz', '/s/%00'],
    ['/s/%', '/s/%00'],
    ['/s/a%2', '/s/%00'],
    ['/p/a/%ED%A0%80/c', '/p/a/%00/c'],
    ['/p/%ff/b/%c0%ae?x=1', '/p/%00/b/%00?x=1'],
  ])('replaces the invalid part of %s by a name that all routes reject', (url, decodable) => {
    expect(decodableUrl(url)).toBe(decodable)
  })
})
