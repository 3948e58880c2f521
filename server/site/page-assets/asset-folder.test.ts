// The assets of several releases in one folder.
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { AssetFolder, readRelease } from './asset-folder.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let scratch: string

beforeEach(async () => {
  scratch = makeTempFolder('assets')
})

function assetOf(name: string, text = name): { name: string; bytes: Uint8Array } {
  return { name, bytes: Buffer.from(text) }
}

it('has the files of all releases that were added', async () => {
  const folder = new AssetFolder(path.join(scratch, 'new', 'assets'))
  await folder.add([assetOf('index-a.js'), assetOf('same.css')])
  await folder.add([assetOf('index-b.js'), assetOf('same.css', 'again')])
  expect((await readdir(folder.path)).toSorted()).toEqual(['index-a.js', 'index-b.js', 'same.css'])
  expect(await readFile(path.join(folder.path, 'same.css'), 'utf8')).toBe('again')
})

it('removes the oldest beyond the limit, never those of the last release', async () => {
  const folder = new AssetFolder(scratch, 10)
  for (const [at, name] of ['b.js', 'a.js', 'c.js'].entries()) {
    await folder.add([assetOf(name)])
    await utimes(path.join(scratch, name), at, at)
  }
  expect((await readdir(scratch)).toSorted()).toEqual(['a.js', 'c.js'])
  await folder.add([assetOf('large.js', 'x'.repeat(100)), assetOf('c.js')])
  expect((await readdir(scratch)).toSorted()).toEqual(['c.js', 'large.js'])
})

it('adds several releases at the same time', async () => {
  const releases = Array.from({ length: 20 }, (_, number) =>
    Array.from({ length: 10 }, (_each, at) => assetOf(`${number}-${at}.js`)),
  )
  await Promise.all(releases.map(async (assets) => new AssetFolder(scratch).add(assets)))
  expect(await readdir(scratch)).toHaveLength(200)
})

it.each(['../escape.js', 'a/b.js', '.hidden', ''])('adds no file named %j', async (name) => {
  const folder = new AssetFolder(path.join(scratch, 'assets'))
  await expect(folder.add([assetOf('a.js'), assetOf(name)])).rejects.toThrow('unusable name')
  expect(await readdir(scratch)).toEqual([])
})

it('identifies a release by the names of its files', async () => {
  const idOf = async (): Promise<string> => (await readRelease(scratch)).id
  await writeFile(path.join(scratch, 'a.js'), 'a')
  const id = await idOf()
  expect(await idOf()).toBe(id)
  await writeFile(path.join(scratch, 'b.js'), 'b')
  expect(await idOf()).not.toBe(id)
})
