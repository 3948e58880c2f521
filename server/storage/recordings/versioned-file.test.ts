// Compare-and-set of a file, by writers that stop at any point.
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { latestVersion, readVersioned, replaceVersioned } from './versioned-file.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let base: string
let file: string

beforeEach(async () => {
  base = makeTempFolder('versioned')
  file = join(base, 'a/b')
})

async function replace(content: string, version?: string): Promise<string | undefined> {
  return replaceVersioned(file, Buffer.from(content), version)
}

async function read(): Promise<string | undefined> {
  const found = await readVersioned(file)
  return found && Buffer.from(found.bytes).toString()
}

test('only the first of several writers replaces a version', async () => {
  expect(await read()).toBeUndefined()
  const created = await Promise.all(['a', 'b', 'c'].map((content) => replace(content)))
  expect(created.filter((version) => version !== undefined)).toHaveLength(1)
  const latest = await latestVersion(file)
  const replaced = await Promise.all(['d', 'e', 'f'].map((content) => replace(content, latest)))
  expect(replaced.filter((version) => version !== undefined)).toHaveLength(1)
  expect(await replace('g', latest)).toBeUndefined()
  expect(['d', 'e', 'f']).toContain(await read())
  expect(await readdir(file)).toHaveLength(1)
})

test('concurrent writers lose no change', async () => {
  const add = async (name: string): Promise<void> => {
    const known = await readVersioned(file)
    const names = known === undefined ? [] : Buffer.from(known.bytes).toString().split(' ')
    if (names.includes(name)) return
    if ((await replace([...names, name].join(' '), known?.version)) === undefined) await add(name)
  }
  const names = Array.from({ length: 30 }, (_, i) => `w${i}`)
  await Promise.all(names.map(add))
  expect((await read())?.split(' ').toSorted()).toEqual(names.toSorted())
})

test('a writer that was stopped for a long time replaces nothing', async () => {
  const first = await replace('first')
  let version = first
  for (const content of ['second', 'third', 'fourth']) version = await replace(content, version)
  // The number after the first is free again.
  expect(await readdir(file)).toEqual(['4'])
  expect(await replace('late', first)).toBeUndefined()
  expect(await read()).toBe('fourth')
  expect(await readdir(file)).toEqual(['4'])
})

test('what a writer leaves when it is killed changes nothing', async () => {
  let version = await replace('first')
  for (const content of ['second', 'third']) version = await replace(content, version)
  // Killed before it wrote, before it saw that it was late, and before it removed the old version.
  for (const name of ['4.0000.tmp', '2', '1']) await writeFile(join(file, name), 'left over')
  expect(await readVersioned(file)).toMatchObject({ version: '3' })
  expect(await read()).toBe('third')
  expect(await replace('fourth', version)).toBe('4')
  expect((await readdir(file)).toSorted()).toEqual(['4', '4.0000.tmp'])
})

test('a version that is listed, but not there, is an error', async () => {
  await mkdir(file, { recursive: true })
  await symlink('nowhere', join(file, '1'))
  await expect(read()).rejects.toMatchObject({ code: 'ENOENT' })
})
