import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { writeAtomically } from './atomic-write.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let folder: string

beforeEach(async () => {
  folder = makeTempFolder('atomic')
})

describe('writeAtomically()', () => {
  it('creates folders, replaces the file, and leaves nothing else', async () => {
    const file = path.join(folder, 'a/b/file')
    await writeAtomically(file, 'old', { mode: 0o600, sync: true })
    await writeAtomically(file, Buffer.from('new'), { mode: 0o600 })
    expect(await readFile(file, 'utf8')).toBe('new')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(path.dirname(file))).toEqual(['file'])
  })

  it('keeps an existing file on request', async () => {
    const file = path.join(folder, 'file')
    const results = ['first', 'second', 'third'].map((content) =>
      writeAtomically(file, content, { existing: 'keep' }),
    )
    expect((await Promise.all(results)).filter(Boolean)).toHaveLength(1)
    const kept = await readFile(file, 'utf8')
    await writeAtomically(file, 'later', { existing: 'keep' })
    expect(await readFile(file, 'utf8')).toBe(kept)
    expect(await readdir(folder)).toEqual(['file'])
  })

  it('rejects, and leaves nothing, if the path cannot be written', async () => {
    await writeFile(path.join(folder, 'file'), '')
    await expect(writeAtomically(path.join(folder, 'file/below'), 'x')).rejects.toThrow(
      /EEXIST|ENOTDIR/,
    )
    await expect(writeAtomically(folder, 'x')).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
    expect(await readdir(folder)).toEqual(['file'])
    expect(
      (await readdir(tmpdir())).filter((name) => name.startsWith(path.basename(folder))),
    ).toEqual([path.basename(folder)])
  })
})
