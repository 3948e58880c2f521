import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { watchCpu } from '../../../test/support/cpu-time.ts'
import { createAdmission } from '../../base/admission/limits.ts'
import { FolderStorage } from '../../storage/recordings/folder/folder-storage.ts'
import type { StorageEntry } from '../../storage/recordings/storage.ts'
import { ChatFiles } from './chat-files.ts'
import type { ChatFilesOptions } from './chat-files.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

const { signal } = new AbortController()

let root: string
/** Of the files that were opened. */
let opened: string[]

beforeEach(async () => {
  root = makeTempFolder('chat-files')
  opened = []
})

async function place(...names: string[]): Promise<void> {
  for (const name of names) {
    const target = path.join(root, name)
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, name.includes('chat') ? 'CHAT' : 'other')
  }
}

function createFiles(
  storage: ChatFilesOptions['storage'] = new FolderStorage(root, {}),
): ChatFiles {
  const isChat = (head: Uint8Array): boolean => {
    opened.push(Buffer.from(head).toString())
    return Buffer.from(head).toString() === 'CHAT'
  }
  return new ChatFiles({ storage, gate: createAdmission().sidecars, isChat })
}

/** Paths, with the part that each belongs to. */
async function found(
  name: string,
  kind: 'file' | 'folder',
): Promise<[string, string | undefined][]> {
  const files = await createFiles().find({ path: name, kind }, signal)
  return files.map(({ path: file, part }) => [file, part])
}

describe('the chat file of a recording', () => {
  it('begins with its name, and is a chat by its content', async () => {
    await place('a/1.ts', 'a/1.json', 'a/1.txt', 'a/1-chat.txt', 'a/2.chat.json', 'a/chat.json')
    expect(await found('a/1.ts', 'file')).toEqual([['a/1-chat.txt', undefined]])
    expect(opened).toEqual(['other', 'CHAT'])
  })

  it('is found quickly among names with very many separators', async () => {
    const names = Array.from({ length: 50_000 }, (_, n) => `1${'-'.repeat(230)}${n}.json`)
    const storage = new FolderStorage(root, {})
    const files = createFiles({
      open: async (file) => storage.open(file),
      stat: async (file) => storage.stat(file),
      list: async () => ['1.ts', ...names].map((name): StorageEntry => ({ name, kind: 'file' })),
    })
    const cpuMs = watchCpu()
    expect(await files.find({ path: '1.ts', kind: 'file' }, signal)).toEqual([])
    expect(cpuMs()).toBeLessThan(2000)
  })

  it('belongs to the longest name', async () => {
    await place('a/1.ts', 'a/1-2.ts', 'a/1-2 chat.json', 'a/1-chat.json', 'a/1chat.json')
    expect(await found('a/1.ts', 'file')).toEqual([['a/1-chat.json', undefined]])
    expect(await found('a/1-2.ts', 'file')).toEqual([['a/1-2 chat.json', undefined]])
  })

  it('may be in another normalisation form', async () => {
    const name = 'Zo\u00eb'
    await place(`a/${name.normalize('NFD')}.ts`, `a/${name}.chat.json`)
    expect(await found(`a/${name.normalize('NFD')}.ts`, 'file')).toHaveLength(1)
  })

  it('is the first by preference, and no other sidecar', async () => {
    await place('a/1.ts', 'a/1.chat.log', 'a/1.chat.jsonl', 'a/1.chat.xml', 'a/1.chat.info.json')
    expect(await found('a/1.ts', 'file')).toEqual([['a/1.chat.jsonl', undefined]])
  })

  it('is found for Ganymede, LiveStreamDVR, and yt-dlp while it records', async () => {
    await place('a/7-video.mp4', 'a/7-chat.mp4', 'a/7-chat.json', 'a/7-info.json')
    expect(await found('a/7-video.mp4', 'file')).toEqual([['a/7-chat.json', undefined]])
    await place('b/8-video_hls/8.m3u8', 'b/8-live-chat.json', 'b/x_vod.mp4', 'b/x.chatdump')
    expect(await found('b/8-video_hls', 'folder')).toEqual([['b/8-live-chat.json', undefined]])
    expect(await found('b/x_vod.mp4', 'file')).toEqual([['b/x.chatdump', undefined]])
    await place('c/9.mp4.part', 'c/9.live_chat.json.part')
    expect(await found('c/9.mp4.part', 'file')).toEqual([['c/9.live_chat.json.part', undefined]])
  })

  it('is found among many other files, with one listing of the folder', async () => {
    const others = Array.from({ length: 20_000 }, (_, nth) => `other-${nth}.json`)
    const entries = [...others, '1.ts', '1.chat.json', '2.ts', '2.chat.json'].map(
      (name): StorageEntry => ({ name, kind: 'file' }),
    )
    let listings = 0
    const storage = {
      list: async () => Promise.resolve(((listings += 1), entries)),
      stat: async (name: string) => Promise.resolve({ sizeBytes: 4, modifiedMs: 0, version: name }),
      open: async () => Promise.resolve(bytesFile(Buffer.from('CHAT'))),
    }
    const files = createFiles(storage)
    for (const nth of [1, 2]) {
      const [file] = await files.find({ path: `a/${nth}.ts`, kind: 'file' }, signal)
      expect(file?.path).toBe(`a/${nth}.chat.json`)
    }
    // Of a session, none of which is named like a part.
    expect(await files.find({ path: 'a', kind: 'folder' }, signal)).toHaveLength(2)
    expect(listings).toBe(1)
  })

  it('is opened once for each version', async () => {
    await place('a/1.ts', 'a/1.chat.json', 'a/2.ts')
    const files = createFiles()
    for (const name of ['a/1.ts', 'a/1.ts', 'a/2.ts'])
      await files.find({ path: name, kind: 'file' }, signal)
    expect(opened).toHaveLength(1)
  })

  it('is absent where the folder is gone', async () => {
    expect(await found('gone/1.ts', 'file')).toEqual([])
  })
})

describe('the chat files of a session folder', () => {
  it('cover the session, or the part whose name they begin with', async () => {
    await place('s/a.ts', 's/b.ts', 's/chat.json', 's/notes.txt')
    expect(await found('s', 'folder')).toEqual([['s/chat.json', undefined]])
    await place('s/b.chat.json')
    expect(await found('s', 'folder')).toEqual([['s/b.chat.json', 'b']])
  })

  it('cover the session beside the playlist of a recorder', async () => {
    await place('s/index.m3u8', 's/1.ts', 's/1.chat.json')
    expect(await found('s', 'folder')).toEqual([['s/1.chat.json', undefined]])
  })
})
