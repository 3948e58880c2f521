// When a session's folder is looked at anew.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withRecordedPlaylists } from '../../media/recorded/recorded-storage.ts'
import { createFolderStorage } from '../../storage/folder-storage.ts'
import { SessionFiles } from './session-files.ts'

let root: string
let files: SessionFiles

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'aftercast-files-'))
  mkdirSync(join(root, 'night'))
  writeFileSync(join(root, 'night/part1.ts'), 'x')
  files = new SessionFiles(withRecordedPlaylists(createFolderStorage(root)))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

const names = (parts: { name: string }[]) => parts.map(({ name }) => name)

test('visitors share a listing for a moment, who was told of a change gets the new one', async () => {
  expect(names(await files.list('night'))).toEqual(['part1.ts'])
  writeFileSync(join(root, 'night/part2.ts'), 'x')
  expect(names(await files.list('night'))).toEqual(['part1.ts'])
  expect(names(await files.relist('night'))).toEqual(['part1.ts', 'part2.ts'])
  expect(names(await files.list('night'))).toEqual(['part1.ts', 'part2.ts'])
})

test('a folder that holds nothing is told as such each time', async () => {
  rmSync(join(root, 'night/part1.ts'))
  await expect(files.list('night')).rejects.toMatchObject({ code: 'not_found' })
  writeFileSync(join(root, 'night/part1.ts'), 'x')
  expect(names(await files.list('night'))).toEqual(['part1.ts'])
})

test('a file without a byte is no part, and stands for none', async () => {
  writeFileSync(join(root, 'night/part1.mp4'), '')
  writeFileSync(join(root, 'night/part2.ts'), '')
  expect(names(await files.list('night'))).toEqual(['part1.ts'])
})
