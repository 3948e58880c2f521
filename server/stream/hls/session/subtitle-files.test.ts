// Subtitle files in a real folder; what is read is counted.
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { readSubtitles } from '../../../media/index/read-subtitles.ts'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import { findSubtitles, SubtitleFiles } from './subtitle-files.ts'

let root: string
let read: string[]
let subtitles: SubtitleFiles

beforeEach(() => {
  root = makeTempFolder('subtitles')
  read = []
  const storage = new FolderStorage(root)
  subtitles = new SubtitleFiles({
    storage,
    readSubtitles: async (file) => {
      read.push(file.path)
      return readSubtitles(storage, file)
    },
  })
})

const CUE = '1\n00:00:01,000 --> 00:00:02,000\ntext\n'

describe('SubtitleFiles', () => {
  it('reads each file once for concurrent and later requests, also one without cues', async () => {
    await writeFile(path.join(root, 'a.de.srt'), CUE)
    await writeFile(path.join(root, 'a.en.vtt'), '\r'.repeat(1000))
    const both = await Promise.all([subtitles.find('a.ts'), subtitles.find('a.ts')])
    for (const tracks of [...both, await subtitles.find('a.ts')])
      expect(tracks).toMatchObject([{ language: 'de', cues: [{ text: 'text' }] }])
    expect(read.toSorted()).toEqual(['a.de.srt', 'a.en.vtt'])
  })

  it('reads a file again when it has changed', async () => {
    await writeFile(path.join(root, 'a.srt'), '')
    expect(await subtitles.find('a.ts')).toEqual([])
    await writeFile(path.join(root, 'a.srt'), CUE)
    expect(await subtitles.find('a.ts')).toHaveLength(1)
    expect(read).toEqual(['a.srt', 'a.srt'])
  })

  it('reads the first 16 MiB of the files of a recording, and none above 8 MiB', async () => {
    const mib = 1024 * 1024
    for (const [name, sizeBytes] of [
      ['de', 9 * mib],
      ['en', 8 * mib],
      ['es', 7 * mib],
      ['fr', 2 * mib],
      ['it', 1024],
    ] as const)
      await writeFile(path.join(root, `a.${name}.srt`), CUE.padEnd(sizeBytes))
    const tracks = await subtitles.find('a.ts')
    expect(tracks.map(({ language }) => language)).toEqual(['en', 'es', 'it'])
    await subtitles.find('a.ts')
    expect(read).toHaveLength(3)
  })
})

describe('findSubtitles', () => {
  it('finds the files of one recording, with their languages', () => {
    const names = ['a.srt', 'a.pt-BR.vtt', 'a.de.SRT', 'ab.srt', 'a.ts', 'a.live_chat.vtt', 'b.vtt']
    expect(findSubtitles(names, 'a').map(({ name, language }) => [name, language])).toEqual([
      ['a.de.SRT', 'de'],
      ['a.pt-BR.vtt', 'pt-BR'],
      ['a.srt', undefined],
    ])
  })
})
