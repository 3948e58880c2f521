import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { compressFolder } from './compress-assets.ts'
import { makeTempFolder } from '../test/support/temp-folder.ts'

test('writes both compressed forms of large text files only', async () => {
  const folder = makeTempFolder('assets')
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const text = 'export const nothing = 0\n'.repeat(100)
  await writeFile(path.join(folder, 'index.js'), text)
  await writeFile(path.join(folder, 'short.css'), 'a{}')
  await writeFile(path.join(folder, 'image.webp'), text)
  await compressFolder(folder)
  expect((await readdir(folder)).toSorted()).toEqual([
    'image.webp',
    'index.js',
    'index.js.br',
    'index.js.gz',
    'short.css',
  ])
  const read = (name: string) => readFile(path.join(folder, name))
  expect(brotliDecompressSync(await read('index.js.br')).toString()).toBe(text)
  expect(gunzipSync(await read('index.js.gz')).toString()).toBe(text)
})
