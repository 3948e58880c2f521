import { mkdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { containsLocation, parseLocation } from './storage-location.ts'

async function contains(outer: string, inner: string): Promise<boolean> {
  return containsLocation(parseLocation(outer, true), parseLocation(inner, true))
}

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
  ])('%s in %s: %s', async (inner, outer, expected) => {
    expect(await contains(outer, inner)).toBe(expected)
  })

  it('follows links, also of a folder that does not exist yet', async () => {
    const folder = makeTempFolder('locations')
    await mkdir(path.join(folder, 'recordings'))
    await symlink(path.join(folder, 'recordings'), path.join(folder, 'linked'))
    const [recordings, linked] = [path.join(folder, 'recordings'), path.join(folder, 'linked/new')]
    expect(await contains(recordings, linked)).toBe(true)
    expect(await contains(linked, recordings)).toBe(false)
  })
})
