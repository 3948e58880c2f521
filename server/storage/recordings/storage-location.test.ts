import { describe, expect, it } from 'vitest'
import { containsLocation, parseLocation } from './storage-location.ts'

describe('containsLocation()', () => {
  it.each([
    ['/srv/a', '/srv/a', true],
    ['/srv/a/', '/srv/a', true],
    ['/srv/a/b/c', '/srv/a', true],
    ['/srv/a/../b', '/srv/a', false],
    ['/srv/ab', '/srv/a', false],
    ['/srv', '/srv/a', false],
    ['/srv', '/', true],
    ['s3://bucket/a', 's3://bucket/a', true],
    ['s3://bucket/a/b', 's3://bucket/a', true],
    ['s3://bucket/a', 's3://bucket', true],
    ['s3://bucket/ab', 's3://bucket/a', false],
    ['s3://bucket', 's3://bucket/a', false],
    ['s3://other/a', 's3://bucket/a', false],
    ['s3://bucket/a', '/', false],
    ['/srv/a', 's3://bucket', false],
  ])('%s in %s: %s', (inner, outer, expected) => {
    expect(containsLocation(parseLocation(outer, true), parseLocation(inner, true))).toBe(expected)
  })
})
