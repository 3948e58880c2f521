import { glob, mkdir, readFile, rm, truncate } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { embeddedData, ircLines, twitchJson } from '../../../test/support/make/make-chat.ts'
import { soon } from '../../../test/support/patience.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { createChatReader } from '../../decode/chat/chat-reader.ts'
import { toThumbnail } from '../../decode/thumbnails/thumbnail.ts'
import { FolderArtifacts } from '../../storage/artifacts/folder-artifacts.ts'
import { SharedArtifacts } from '../../storage/artifacts/shared-artifacts.ts'
import { BUCKET_SECONDS, Chats } from './chats.ts'
import type { ChatSession } from './chats.ts'

const { signal } = new AbortController()
const messages = [
  { seconds: 1, user: 'Bob', text: 'hello' },
  { seconds: BUCKET_SECONDS + 5, user: 'Eve', text: 'bye' },
]

let root: string
let reads: number
/** Emotes that were drawn, by their names. */
let drawn: string[][]
/** Whether drawing them again gives the same image. */
let isLasting: boolean
/** Whether the process that reads is ended. */
let isEnded: boolean
/** In each image. */
let take: string
/** Version of the file. */
let current: string
/** Contents by path. */
let contents: Record<string, string>

beforeEach(() => {
  root = makeTempFolder('chats')
  reads = 0
  drawn = []
  isLasting = true
  isEnded = false
  take = ''
  contents = { chat: twitchJson(messages) }
})

afterEach(() => vi.useRealTimers())

const reader = createChatReader({
  open: async (name: string) => {
    const file = bytesFile(Buffer.from(contents[name] ?? ''))
    return Promise.resolve({ ...file, stat: { ...file.stat, version: current } })
  },
})
afterAll(() => reader.close())

const log = {
  warn: (details: object, message: string) => expect.fail(JSON.stringify([details, message])),
}

function versionOf(image: string | Buffer): string {
  return toThumbnail({ bytes: Buffer.from(image), contentType: 'image/webp' }).version
}

/** Of a process with a data folder of its own. */
function createChats(data: string, shared?: SharedArtifacts, onRead = (): void => {}): Chats {
  return new Chats({
    folder: path.join(root, data),
    shared,
    log,
    settleSeconds: 30,
    drawEmotes: async (emotes) => {
      const names = emotes.map(({ name }) => name)
      drawn.push(names)
      const list = names.map((name, nth) => ({ name, x: nth * 58, y: 0, width: 56 }))
      const image = Buffer.from(`image ${take}of ${names.join()}`)
      const plan = { version: versionOf(image), width: 58 * names.length, height: 56, list }
      return Promise.resolve(isLasting ? { emotes: plan, image, isLasting } : { isLasting })
    },
    readChat: async (job) => {
      reads += 1
      onRead()
      if (isEnded) return { status: 'refused', reason: { code: 'reader-ended' } }
      return reader.read(job, signal)
    },
  })
}

function sessionOf(options: Partial<ChatSession> = {}, version = '1'): ChatSession {
  const stat = { sizeBytes: 1, modifiedMs: 0, version }
  current = version
  return {
    key: 'alice/2026-01-31/1',
    files: [{ path: 'chat', stat, part: undefined }],
    parts: [{ path: 'alice/2026-01-31/1.ts', startSeconds: 0, durationSeconds: 3600 }],
    startMs: undefined,
    isGrowing: false,
    offsetSeconds: 0,
    hiddenUsers: [],
    ...options,
  }
}

async function textOf(chats: Chats, session: ChatSession, bucket: number): Promise<string> {
  const { version = '' } = (await chats.find(session, signal)) ?? {}
  return (await chats.bucket(session, { version, bucket }, signal))?.json ?? ''
}

describe('a finished chat', () => {
  it('is read once, and then stored', async () => {
    const chats = createChats('a')
    const all = [textOf(chats, sessionOf(), 0), textOf(chats, sessionOf(), 1)]
    const [first, second] = await Promise.all(all)
    expect(first).toContain('hello')
    expect(second).toContain('bye')
    expect(await textOf(createChats('a'), sessionOf(), 1)).toBe(second)
    expect(reads).toBe(1)
  })

  it('is shared by nodes', async () => {
    const folder = path.join(root, 'shared')
    await mkdir(folder)
    const open = (): SharedArtifacts =>
      new SharedArtifacts({ store: new FolderArtifacts(folder), log })
    const first = open()
    await textOf(createChats('a', first), sessionOf(), 0)
    await first.close()
    const second = open()
    expect(await textOf(createChats('b', second), sessionOf(), 1)).toContain('bye')
    await second.close()
    expect(reads).toBe(1)
  })

  it('is read again if the file or the recording is another one', async () => {
    const chats = createChats('a')
    const versionOf = async (session: ChatSession): Promise<string | undefined> =>
      (await chats.find(session, signal))?.version
    const version = await versionOf(sessionOf())
    // Equal bytes: equal URLs.
    expect(await versionOf(sessionOf({}, '2'))).toBe(version)
    expect(await versionOf(sessionOf({ startMs: 1_769_890_500_000 }))).not.toBe(version)
    expect(reads).toBe(3)
  })

  it('is not stored if the file was replaced in the meantime', async () => {
    const chats = createChats('a')
    const listed = sessionOf({}, '1')
    current = '2'
    await expect(chats.find(listed, signal)).rejects.toMatchObject({ code: 'busy' })
    expect(await chats.find(sessionOf({}, '2'), signal)).toMatchObject({ counts: [1, 1] })
  })

  it('is read again if its packs are lost', async () => {
    await textOf(createChats('a'), sessionOf(), 0)
    const chats = createChats('a')
    const { version = '' } = (await chats.find(sessionOf(), signal)) ?? {}
    await rm(path.join(root, 'a'), { recursive: true })
    const address = { version, bucket: 0 }
    const bucket = await chats.bucket(sessionOf(), address, signal)
    expect(bucket).toMatchObject({ json: expect.stringContaining('hello'), isFinal: true })
    expect(reads).toBe(2)
  })

  it('is read again an hour after its process was ended', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    vi.advanceTimersByTime(1)
    const chats = createChats('a')
    isEnded = true
    expect(await chats.find(sessionOf(), signal)).toBeUndefined()
    isEnded = false
    expect(await chats.find(sessionOf(), signal)).toBeUndefined()
    vi.advanceTimersByTime(60 * 60 * 1000 + 1)
    expect(await chats.find(sessionOf(), signal)).toBeDefined()
    expect(reads).toBe(2)
  })

  it('is absent without files, of no part, or without messages', async () => {
    const chats = createChats('a')
    const [file] = sessionOf().files
    const ofPart = file === undefined ? [] : [{ ...file, part: 'other' }]
    contents = { chat: '{}' }
    for (const files of [[], ofPart, sessionOf().files]) {
      expect(await chats.find(sessionOf({ files }), signal)).toBeUndefined()
    }
    expect(reads).toBe(1)
  })
})

describe('the emotes of a chat', () => {
  const withEmotes = (...texts: string[]): void => {
    const said = texts.map((text, seconds) => ({ seconds, user: 'Bob', text }))
    const images = Object.fromEntries(texts.map((text) => [text, Buffer.from(text)]))
    contents = { chat: twitchJson(said, { embeddedData: embeddedData(images) }) }
  }
  const imageOf = async (
    chats: Chats,
    text = 'image of catJAM',
    session = sessionOf(),
  ): Promise<string | undefined> => {
    const bytes = await chats.emotes(session, versionOf(text), signal)
    return bytes && Buffer.from(bytes).toString()
  }

  it('are drawn once, and then stored', async () => {
    withEmotes('catJAM', 'Kappa')
    const both = 'image of catJAM,Kappa'
    const first = await createChats('a').find(sessionOf(), signal)
    expect(first?.emotes).toMatchObject({ version: versionOf(both), width: 116 })
    const chats = createChats('a')
    expect(await chats.find(sessionOf(), signal)).toEqual(first)
    expect(await imageOf(chats, both)).toBe(both)
    expect([drawn, reads]).toEqual([[['catJAM', 'Kappa']], 1])
  })

  it('are shared by nodes', async () => {
    withEmotes('catJAM')
    const folder = path.join(root, 'shared')
    await mkdir(folder)
    const open = (): SharedArtifacts =>
      new SharedArtifacts({ store: new FolderArtifacts(folder), log })
    const [first, second] = [open(), open()]
    await createChats('a', first).find(sessionOf(), signal)
    await first.close()
    const chats = createChats('b', second)
    expect((await chats.find(sessionOf(), signal))?.emotes?.version).toBe(
      versionOf('image of catJAM'),
    )
    expect(await imageOf(chats)).toBe('image of catJAM')
    await second.close()
    expect([drawn.length, reads]).toEqual([1, 1])
  })

  it('are drawn again if the image is lost', async () => {
    withEmotes('catJAM')
    await createChats('a').find(sessionOf(), signal)
    const chats = createChats('a')
    await chats.find(sessionOf(), signal)
    await rm(path.join(root, 'a'), { recursive: true })
    expect(await imageOf(chats)).toBe('image of catJAM')
    expect(reads).toBe(2)
  })

  it('never have the image of another version', async () => {
    withEmotes('catJAM')
    await createChats('a').find(sessionOf(), signal)
    const chats = createChats('a')
    await chats.find(sessionOf(), signal)
    await rm(path.join(root, 'a'), { recursive: true })
    take = 'again '
    expect(await imageOf(chats)).toBeUndefined()
    expect((await chats.find(sessionOf(), signal))?.emotes?.version).toBe(
      versionOf('image again of catJAM'),
    )
    expect(await imageOf(chats)).toBeUndefined()
    expect(await imageOf(chats, 'image again of catJAM')).toBe('image again of catJAM')
  })

  it('are drawn again if the stored image is damaged', async () => {
    withEmotes('catJAM')
    await createChats('a').find(sessionOf(), signal)
    for await (const file of glob(path.join(root, 'a', '**/*.bin'))) {
      if ((await readFile(file, 'utf8')).startsWith('image')) await truncate(file)
    }
    expect(await imageOf(createChats('a'))).toBe('image of catJAM')
    expect(reads).toBe(2)
  })

  it('are words until an hour after they could not be drawn, and after a restart', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    // A cache has no time of 0.
    vi.advanceTimersByTime(1)
    withEmotes('catJAM')
    isLasting = false
    const chats = createChats('a')
    const emotesOf = async (of: Chats): Promise<unknown> =>
      (await of.find(sessionOf(), signal))?.emotes
    expect(await emotesOf(chats)).toBeUndefined()
    expect(await imageOf(chats)).toBeUndefined()
    expect(await textOf(chats, sessionOf(), 0)).toContain('catJAM')
    isLasting = true
    expect(await emotesOf(createChats('b'))).toBeDefined()
    expect(await emotesOf(chats)).toBeUndefined()
    expect(reads).toBe(2)
    vi.advanceTimersByTime(60 * 60 * 1000 + 1)
    expect(await emotesOf(chats)).toBeDefined()
    expect(await imageOf(createChats('a'))).toBe('image of catJAM')
    expect(reads).toBe(3)
  })

  it('are words while the chat grows, and if there are no images', async () => {
    const chats = createChats('a')
    expect((await chats.find(sessionOf(), signal))?.emotes).toBeUndefined()
    withEmotes('catJAM')
    const growing = sessionOf({ isGrowing: true }, '2')
    expect((await chats.find(growing, signal))?.emotes).toBeUndefined()
    expect(await imageOf(chats, 'image of catJAM', growing)).toBeUndefined()
    expect(drawn).toEqual([])
  })
})

describe('a growing chat', () => {
  const growing = (version: string): ChatSession => sessionOf({ isGrowing: true }, version)
  const crowd = Array.from({ length: 50 }, (_, nth) => ({
    ...messages[0],
    seconds: 1,
    text: `${nth}`,
  }))

  it('is read again after a pause, if the file has changed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    contents = { chat: ircLines(crowd.map((each) => ({ user: 'Bob', ...each }))) }
    const chats = createChats('a')
    const countsOf = async (version: string): Promise<number[] | undefined> =>
      (await chats.find(growing(version), signal))?.counts
    expect(await countsOf('1')).toEqual([50])
    contents.chat += ircLines([{ seconds: 61, user: 'Eve', text: 'bye' }])
    expect(await countsOf('2')).toEqual([50])
    expect(reads).toBe(1)
    vi.advanceTimersByTime(3000)
    expect(await countsOf('2')).toEqual([50, 1])
    expect(reads).toBe(2)
    vi.advanceTimersByTime(3000)
    await countsOf('2')
    expect(reads).toBe(2)
  })

  it('is the old one while a long read goes on, which takes a third of the time', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    let isSlow = true
    const chats = createChats('a', undefined, () => {
      if (isSlow) vi.advanceTimersByTime(10_000)
    })
    const countsOf = async (version: string): Promise<number[] | undefined> =>
      (await chats.find(growing(version), signal))?.counts
    expect(await countsOf('1')).toEqual([1, 1])
    contents = { chat: twitchJson(messages.slice(0, 1)) }
    isSlow = false
    vi.advanceTimersByTime(19_000)
    expect(await countsOf('2')).toEqual([1, 1])
    expect(reads).toBe(1)
    vi.advanceTimersByTime(1000)
    expect(await countsOf('2')).toEqual([1, 1])
    await vi.waitUntil(async () => (await countsOf('2'))?.length === 1, soon)
    expect(reads).toBe(2)
  })

  it('waits for a long read if another process is ahead', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const chats = createChats('a', undefined, () => vi.advanceTimersByTime(10_000))
    await chats.find(growing('1'), signal)
    const later = [70, 125].map((seconds) => ({ seconds, user: 'Bob', text: 'more' }))
    contents = { chat: twitchJson([...messages, ...later]) }
    const { version = '' } = (await createChats('b').find(growing('2'), signal)) ?? {}
    vi.advanceTimersByTime(60_000)
    const bucket = await chats.bucket(growing('2'), { version, bucket: 1 }, signal)
    expect(bucket).toMatchObject({ json: expect.stringContaining('more'), isFinal: true })
  })

  it('is never an old one with a user who is hidden by now', async () => {
    const chats = createChats('a')
    expect(await chats.find(growing('1'), signal)).toMatchObject({ counts: [1, 1] })
    const hiding = { ...growing('1'), hiddenUsers: ['bob'] }
    expect(await chats.find(hiding, signal)).toMatchObject({ counts: [0, 1] })
    expect(await textOf(chats, hiding, 0)).not.toContain('Bob')
    expect(await chats.find(growing('1'), signal)).toMatchObject({ counts: [1, 1] })
  })

  it('has a last bucket that is not final', async () => {
    const chats = createChats('a')
    const { version = '' } = (await chats.find(growing('1'), signal)) ?? {}
    const isFinal = async (bucket: number): Promise<boolean | undefined> =>
      (await chats.bucket(growing('1'), { version, bucket }, signal))?.isFinal
    expect([await isFinal(0), await isFinal(1), await isFinal(2)]).toEqual([true, false, undefined])
  })

  it('never has other bytes in a final bucket, if the file is written anew', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const third = { seconds: 2 * BUCKET_SECONDS + 5, user: 'Eve', text: 'third minute' }
    // The start of the file stays.
    const tellWith = (...more: typeof messages): string =>
      ircLines([...crowd.map((each) => ({ user: 'Bob', ...each })), ...messages, ...more])
    contents = { chat: tellWith(third) }
    const chats = createChats('a')
    const { version = '' } = (await chats.find(growing('1'), signal)) ?? {}
    const stateOf = async (stat: string): Promise<unknown[]> =>
      Promise.all([0, 1].map((bucket) => chats.bucket(growing(stat), { version, bucket }, signal)))
    const before = await stateOf('1')
    expect(before).toMatchObject([{ isFinal: true }, { isFinal: true }])
    contents = { chat: tellWith({ seconds: 70, user: 'Ann', text: 'a late message' }, third) }
    vi.advanceTimersByTime(3000)
    await chats.find(growing('2'), signal)
    await vi.waitUntil(
      async () => (await chats.find(growing('2'), signal))?.version !== version,
      soon,
    )
    expect(await stateOf('2')).toEqual([undefined, undefined])
    // What is older than the change keeps its URL.
    const first = await chats.find(growing('2'), signal)
    expect(first?.counts).toEqual([51, 2, 1])
  })

  it('keeps the URLs of its final buckets while later ones are added', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const third = { seconds: 2 * BUCKET_SECONDS + 5, user: 'Eve', text: 'third minute' }
    contents = { chat: ircLines(messages) }
    const chats = createChats('a')
    const { version = '' } = (await chats.find(growing('1'), signal)) ?? {}
    const [first, last] = [
      { version, bucket: 0 },
      { version, bucket: 1 },
    ]
    const before = await chats.bucket(growing('1'), first, signal)
    contents.chat += ircLines([third])
    vi.advanceTimersByTime(3000)
    await chats.find(growing('2'), signal)
    await vi.waitUntil(
      async () => (await chats.find(growing('2'), signal))?.version !== version,
      soon,
    )
    expect(await chats.bucket(growing('2'), first, signal)).toEqual(before)
    expect(await chats.bucket(growing('2'), last, signal)).toMatchObject({ isFinal: false })
    const finished = sessionOf({}, '2')
    expect(await chats.bucket(finished, first, signal)).toEqual(before)
  })
})
