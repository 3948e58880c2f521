// Chats that are read in the child process: results, and failures of either side.
import { gzipSync } from 'node:zlib'
import { afterEach, expect, it, vi } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { embeddedData, ircLines, twitchJson } from '../../../test/support/make/make-chat.ts'
import { soon } from '../../../test/support/patience.ts'
import { AppError } from '../../base/errors.ts'
import { findPack, readBucket } from '../../media/chat/chat-buckets.ts'
import type { ChatJob, ChatOutcome } from '../../media/chat/read-chat.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import type { ChildOptions } from '../child/decoder-pool.ts'
import { createChatReader, readInChild } from './chat-reader.ts'

const { signal } = new AbortController()
const crowd = Array.from({ length: 20_000 }, (_, nth) => ({
  seconds: nth / 10,
  user: `User${nth % 500}`,
  text: `message ${nth} ${[2, 3, 5].map((base) => Math.sin(nth * base)).join(' ')}`,
}))
const files: Record<string, OpenFile> = {
  few: bytesFile(Buffer.from(twitchJson([{ seconds: 1, user: 'Bob', text: 'hello' }]))),
  drawn: bytesFile(
    Buffer.from(
      twitchJson([{ seconds: 1, user: 'Bob', text: 'catJAM bobPog catJAM' }], {
        embeddedData: embeddedData({ bobPog: Buffer.from('pog'), catJAM: Buffer.from('cat') }),
      }),
    ),
  ),
  many: bytesFile(Buffer.from(ircLines(crowd))),
  packed: bytesFile(gzipSync(ircLines(crowd))),
  none: bytesFile(Buffer.from('{}')),
  long: bytesFile(new Uint8Array(), 2 ** 30),
  sparse: bytesFile(new Uint8Array(), 2 ** 30 + 1),
  lost: {
    ...bytesFile(Buffer.from(ircLines(crowd))),
    read: async () => Promise.reject(new AppError('busy', 'the disk is lost')),
  },
}
let opened = 0
let reader: ReturnType<typeof createChatReader>
const pids: number[] = []

function start(limits: ChildOptions['limits'] = {}): void {
  const log = {
    debug: (details: object) => void ('pid' in details && pids.push(Number(details.pid))),
    warn: () => undefined,
  }
  const open = async (path: string): Promise<OpenFile> => {
    const file = files[path]
    if (file === undefined) throw new AppError('not_found', 'there is no such file')
    opened += 1
    const close = async (): Promise<void> => Promise.resolve(void (opened -= 1))
    return Promise.resolve({ ...file, close })
  }
  reader = createChatReader({ open }, { log, limits })
}

afterEach(() => {
  reader.close()
  pids.length = 0
})

async function read(paths: string[], options: Partial<ChatJob> = {}): Promise<ChatOutcome> {
  const parts = [{ startSeconds: 0, durationSeconds: 3600 }]
  const job = { isGrowing: false, offsetSeconds: 0, hiddenUsers: [], ...options }
  return reader.read(
    { ...job, files: paths.map((path) => ({ path, version: '1', parts })) },
    signal,
  )
}

function textOf(chat: ChatOutcome): string {
  if (chat.status !== 'read') return JSON.stringify(chat)
  const buckets = chat.counts.map((_, bucket) => {
    const pack = findPack(chat, bucket) ?? -1
    return readBucket(chat, bucket, { pack, bytes: chat.bytes[pack] ?? new Uint8Array() })
  })
  return buckets.join('\n')
}

it('has all messages of all files, in one process for all reads', async () => {
  start()
  const reads = await Promise.all([read(['many']), read(['few', 'packed']), read(['none'])])
  const [many, both, none] = reads
  expect(many.status === 'read' && many.bytes.length).toBeGreaterThan(1)
  expect(textOf(many).match(/message \d+/g)).toEqual(crowd.map((_, nth) => `message ${nth}`))
  expect(textOf(both)).toContain('hello')
  expect(textOf(both).match(/message \d+/g)).toHaveLength(crowd.length)
  expect(none).toEqual({ status: 'refused' })
  expect(pids).toHaveLength(1)
})

it('has the images of emotes, the most used first, if they are wanted', async () => {
  start()
  const [chat, words] = [await read(['drawn'], { withEmotes: true }), await read(['drawn'])]
  const namesOf = (outcome: ChatOutcome) =>
    outcome.status === 'read' &&
    outcome.emotes?.map(({ name, data }) => [name, Buffer.from(data).toString()])
  expect(namesOf(chat)).toEqual([
    ['catJAM', 'cat'],
    ['bobPog', 'pog'],
  ])
  expect(namesOf(words)).toEqual([])
})

it('rejects if a file cannot be read, and goes on', async () => {
  start()
  await expect(read(['few', 'lost'])).rejects.toThrow('the disk is lost')
  await expect(read(['few', 'absent'])).rejects.toThrow('there is no such file')
  const job = { files: [{ path: 'few', version: '2', parts: [] }], isGrowing: false }
  await expect(reader.read({ ...job, offsetSeconds: 0, hiddenUsers: [] }, signal)).rejects.toThrow(
    'the chat file has changed',
  )
  expect(textOf(await read(['few']))).toContain('hello')
  // A process that waits for bytes is not used again.
  expect(pids).toHaveLength(4)
  expect(opened).toBe(0)
})

it('refuses a file that is too large, without reading it', async () => {
  start()
  const reason = { code: 'limit-exceeded', limit: 'chat-bytes', max: 2 ** 30 }
  expect(await read(['sparse'])).toEqual({ status: 'refused', reason })
})

it.runIf(process.platform === 'linux')('refuses what needs too much memory', async () => {
  start({ residentBytes: 2 ** 20 })
  const refused = { status: 'refused', reason: { code: 'reader-ended' } }
  expect(await read(['few'])).toEqual(refused)
  expect(await read(['few'])).toEqual(refused)
  expect(pids).toHaveLength(2)
})

it('rejects when it is closed, and closes the file', async () => {
  start()
  const reading = read(['long'])
  void vi.waitUntil(() => opened === 1, soon).then(() => reader.close())
  await expect(reading).rejects.toThrow('closed')
  expect(opened).toBe(0)
})

it('refuses a child that replies with empty emotes without end', async () => {
  let replies = 0
  const run: Parameters<typeof readInChild>[1] = async ({ parse }) => {
    replies += 1
    const value = parse({ kind: 'emote', name: '', data: new Uint8Array() })
    const isOver = value === undefined || replies === 200_000
    return isOver ? { status: 'killed', reason: 'malformed' } : { status: 'done', value }
  }
  const job = { files: [], isGrowing: false, offsetSeconds: 0, hiddenUsers: [] }
  const none = async function* (): AsyncGenerator<Uint8Array, void> {}
  const refused = { status: 'refused', reason: { code: 'reader-ended' } }
  expect(await readInChild(job, run, none())).toEqual(refused)
  expect(replies).toBeLessThan(100_000)
})
