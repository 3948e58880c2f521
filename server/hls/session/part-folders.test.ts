import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withRecordedPlaylists } from '../../media/recorded/recorded-storage.ts'
import { createFolderStorage } from '../../storage/folder-storage.ts'
import { PartFolders } from './part-folders.ts'

let root: string
let folders: PartFolders

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'aftercast-files-'))
  mkdirSync(join(root, 'night'))
  writeFileSync(join(root, 'night/part1.ts'), 'x')
  folders = new PartFolders(withRecordedPlaylists(createFolderStorage(root)))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

const names = (parts: { name: string }[]) => parts.map(({ name }) => name)

test('caches a listing, except for callers that need the current one', async () => {
  expect(names(await folders.list('night'))).toEqual(['part1.ts'])
  writeFileSync(join(root, 'night/part2.ts'), 'x')
  expect(names(await folders.list('night'))).toEqual(['part1.ts'])
  expect(names(await folders.listNow('night'))).toEqual(['part1.ts', 'part2.ts'])
  expect(names(await folders.list('night'))).toEqual(['part1.ts', 'part2.ts'])
})

test('does not cache the error for an empty folder', async () => {
  rmSync(join(root, 'night/part1.ts'))
  await expect(folders.list('night')).rejects.toMatchObject({ code: 'not_found' })
  writeFileSync(join(root, 'night/part1.ts'), 'x')
  expect(names(await folders.list('night'))).toEqual(['part1.ts'])
})

test('ignores empty files', async () => {
  writeFileSync(join(root, 'night/part1.mp4'), '')
  writeFileSync(join(root, 'night/part2.ts'), '')
  expect(names(await folders.list('night'))).toEqual(['part1.ts'])
})
