// Chat files of all formats: what is read of real structures, of damaged ones, and of any bytes.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bilibiliXml,
  capturedJson,
  CHAT_START_MS,
  ircLine,
  ircLines,
  jsonLine,
  jsonLines,
  madeChats,
  twitchComment,
  twitchJson,
  twitchLines,
  youtubeItem,
  youtubeLines,
  youtubeRemoval,
} from '../../../test/support/make/make-chat.ts'
import type { MadeMessage } from '../../../test/support/make/make-chat.ts'
import { findPack, MAX_BUCKET_MESSAGES, readBucket } from './chat-buckets.ts'
import type { ChatPart } from './chat-timeline.ts'
import { CHAT_LIMITS } from './message-store.ts'
import type { ChatLimits } from './message-store.ts'
import { isChat, readChat } from './read-chat.ts'
import type { ReadChat } from './read-chat.ts'

const DOCUMENT = path.join(import.meta.dirname, 'README.md')
const HOUR: ChatPart = { startSeconds: 0, durationSeconds: 3600 }
const STARTED: ChatPart = { ...HOUR, startMs: CHAT_START_MS }

const messages: MadeMessage[] = [
  { seconds: 1.25, user: 'Bob', text: 'hello Kappa', color: '#FF0000', id: '1' },
  { seconds: 61.5, user: 'Eve', text: '日本 🎉 <script>"&', id: '2' },
  { seconds: 61.75, user: 'Bob', text: 'bye', color: '#FF0000', id: '3' },
]

const formats: Record<string, (of: readonly MadeMessage[]) => string> = {
  TwitchDownloader: twitchJson,
  'LiveStreamDVR lines': twitchLines,
  'yt-dlp': youtubeLines,
  BililiveRecorder: bilibiliXml,
  'chat-downloader': capturedJson,
  '.chat.jsonl': jsonLines,
  justlog: ircLines,
}

type Content = string | Uint8Array

/** Of a length that splits characters, records and the first bytes of other files. */
function* chunksOf(content: Content): Generator<Uint8Array> {
  const bytes = Buffer.from(content)
  yield bytes.subarray(0, 3)
  for (let at = 3; at < bytes.length; at += 4093) yield bytes.subarray(at, at + 4093)
}

interface Options {
  parts?: ChatPart[]
  isGrowing?: boolean
  offsetSeconds?: number
  hiddenUsers?: string[]
}

async function read(
  contents: Content | Content[],
  { parts = [STARTED], isGrowing = false, offsetSeconds = 0, hiddenUsers = [] }: Options = {},
) {
  const list = Array.isArray(contents) ? contents : [contents]
  // One file covers all parts; of several, each covers its own.
  const files = list.map((_, nth) => ({
    path: String(nth),
    version: '1',
    parts: list.length === 1 ? parts : parts.slice(nth, nth + 1),
  }))
  const job = { files, isGrowing, offsetSeconds, hiddenUsers }
  return readChat(job, (file) => Readable.from(chunksOf(list[Number(file.path)] ?? '')))
}

interface Shown {
  t: number
  user: string
  text: string
  color?: string
  kind?: string
  badges?: string[]
}

function bucketOf(chat: ReadChat, bucket: number): string {
  const pack = findPack(chat, bucket) ?? -1
  const bytes = chat.bytes[pack] ?? new Uint8Array()
  return readBucket(chat, bucket, { pack, bytes }) ?? ''
}

async function chatOf(contents: Content | Content[], options?: Options): Promise<ReadChat> {
  const outcome = await read(contents, options)
  if (outcome.status === 'read') return outcome
  throw new Error(`refused: ${JSON.stringify(outcome.reason)}`)
}

/** All messages of all buckets. */
function shownOf(chat: ReadChat): Shown[] {
  return chat.counts.flatMap((count, bucket) => {
    const { messages: shown }: { messages: Shown[] } = JSON.parse(bucketOf(chat, bucket))
    expect(shown).toHaveLength(count)
    return shown
  })
}

async function shown(contents: Content | Content[], options?: Options): Promise<Shown[]> {
  return shownOf(await chatOf(contents, options))
}

const timesOf = async (...args: Parameters<typeof shown>): Promise<number[]> =>
  (await shown(...args)).map(({ t }) => t)

describe.each(Object.entries(formats))('%s', (_name, format) => {
  it('has time, user and text of every message', async () => {
    const found = await shown(format(messages))
    expect(found.map(({ t, user, text }) => [t, user, text])).toEqual(
      messages.map(({ seconds, user, text }) => [seconds, user, text]),
    )
  })

  it('has buckets of a minute, and the number of messages in each', async () => {
    const chat = await chatOf(format(messages))
    expect(chat).toMatchObject({ counts: [1, 2] })
    expect(bucketOf(chat, 1)).toContain('bye')
  })

  it('reads the same whatever the encoding', async () => {
    const text = format(messages)
    const little = Buffer.from(`\uFEFF${text}`, 'utf16le')
    const expected = await shown(text)
    expect(await shown(`\uFEFF${text}`)).toEqual(expected)
    expect(await shown(little)).toEqual(expected)
    expect(await shown(Buffer.from(little).swap16())).toEqual(expected)
    const points = Uint32Array.from(`\uFEFF${text}`, (character) => character.codePointAt(0) ?? 0)
    const wide = Buffer.from(points.buffer)
    expect(await shown(wide)).toEqual(expected)
    expect(isChat(wide)).toBe(true)
    wide.swap32()
    expect(await shown(gzipSync(wide))).toEqual(expected)
    expect(isChat(gzipSync(wide))).toBe(true)
    expect(await shown(gzipSync(text))).toEqual(expected)
  })

  it('is recognised by its first bytes', () => {
    expect(isChat(Buffer.from(format(messages)))).toBe(true)
    expect(isChat(gzipSync(format(messages)).subarray(0, 4096))).toBe(true)
  })

  it('has what is complete of any prefix, and goes on after any damage', async () => {
    const bytes = Buffer.from(format(messages))
    const whole = (await shown(bytes)).map(({ text }) => text)
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), async (length) => {
        const outcome = await read(bytes.subarray(0, length), { isGrowing: true })
        const found = outcome.status === 'read' ? shownOf(outcome) : []
        expect(whole.slice(0, found.length)).toEqual(found.map(({ text }) => text))
      }),
    )
    const mutation = fc.tuple(fc.nat(bytes.length - 1), fc.uint8Array({ maxLength: 12 }))
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { maxLength: 8 }), async (mutations) => {
        const copy = Buffer.from(bytes)
        for (const [at, changed] of mutations) copy.set(changed.subarray(0, copy.length - at), at)
        const outcome = await read(copy)
        const found = outcome.status === 'read' ? shownOf(outcome) : []
        expect(found.length).toBeLessThan(10)
      }),
    )
  })

  it('has a last message whose line has no newline', async () => {
    const text = format(messages).trimEnd()
    expect(await shown(text)).toHaveLength(messages.length)
  })

  it('splits equal records, however the file is cut into chunks', async () => {
    const many = Array.from({ length: 2500 }, (_, nth) => ({
      seconds: nth / 4,
      user: `User${nth % 7}`,
      text: `${'ü'.repeat(nth % 90)}message ${nth}`,
      id: String(nth),
    }))
    const found = await shown(format(many))
    expect(found.map(({ text }) => text)).toEqual(many.map(({ text }) => text))
  })
})

describe.each(Object.entries(madeChats))('%s', (_name, { content, shown: expected }) => {
  it('has its messages', async () => {
    const found = await shown(content)
    expect(found.map(({ t, user, text, kind }) => [t, user, text, kind])).toEqual(
      expected.map(([t, user, text, kind]) => [t, user, text, kind]),
    )
  })
})

it('has as many messages of each tool as the README lists', () => {
  const rows = readFileSync(DOCUMENT, 'utf8').matchAll(/\| +(\d+) +\| +(\d+) +\|$/gm)
  const listed = [...rows].map(([, inFile, isShown]) => [Number(inFile), Number(isShown)])
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)
  const made = Object.values(madeChats)
  expect([0, 1].map((column) => sum(listed.map((row) => row[column] ?? NaN)))).toEqual([
    sum(made.map(({ messages: inFile }) => inFile)),
    sum(made.map(({ shown: expected }) => expected.length)),
  ])
})

describe('messages', () => {
  it('have a valid colour, badges, and text without control and bidi characters', async () => {
    const hostile = { seconds: 1, user: 'A\u202Eb', text: 'a\u0007\nb', color: 'red;x' }
    const [first] = await shown(twitchJson([hostile, ...messages]))
    expect(first).toEqual({ t: 1, user: 'Ab', text: 'a b', badges: ['subscriber'] })
    const [known] = await shown(twitchJson(messages))
    expect(known).toMatchObject({ color: '#ff0000' })
  })

  it('are cut at 500 characters', async () => {
    const [long] = await shown(twitchJson([{ seconds: 1, user: 'Bob', text: 'x'.repeat(9000) }]))
    expect(long?.text).toHaveLength(500)
  })

  it('may lack most fields', async () => {
    const comments = [
      { content_offset_seconds: 5, message: { body: 'no user' } },
      {
        content_offset_seconds: 6,
        commenter: null,
        message: { fragments: [{ text: 'a' }, { text: 'b' }] },
      },
      { content_offset_seconds: 7, message: null },
      { message: { body: 'no time' } },
      { content_offset_seconds: 'x', message: { body: 1 } },
      null,
    ]
    const found = await shown(twitchJson([], { comments, FileInfo: undefined, video: undefined }))
    expect(found.map(({ t, user, text }) => [t, user, text])).toEqual([
      [5, 'unknown', 'no user'],
      [6, 'unknown', 'ab'],
    ])
  })

  it('have a kind where they are paid for, or report subscriptions and raids', async () => {
    const comment = (seconds: number, message: object): object => {
      const base = twitchComment({ seconds, user: 'Bob', text: 'x' })
      return { ...base, message: { body: 'x', ...message } }
    }
    const comments = [
      comment(1, { bits_spent: 100 }),
      comment(2, { user_notice_params: { 'msg-id': 'resub' } }),
      comment(3, { user_notice_params: { 'msg-id': 'raid' } }),
      comment(4, { user_notice_params: { 'msg-id': null } }),
    ]
    const kindsOf = async (content: Content): Promise<unknown[]> =>
      (await shown(content)).map(({ kind }) => kind)
    expect(await kindsOf(twitchJson([], { comments }))).toEqual([
      'paid',
      'member',
      'raid',
      undefined,
    ])
    const amount = { purchaseAmountText: { simpleText: '€5.00' } }
    const superChat = youtubeItem(
      { seconds: 1, user: 'Bob', text: 'hi' },
      'liveChatPaidMessageRenderer',
      amount,
    )
    expect(await shown(superChat)).toMatchObject([{ text: '€5.00 hi', kind: 'paid' }])
    const gifts =
      '<gift ts="3" user="Bob" giftname="Star" giftcount="2"/><sc ts="4" user="Bob" price="30">x</sc>'
    expect(await kindsOf(bilibiliXml([], gifts))).toEqual(['paid', 'paid'])
    const raid = ircLine({ seconds: 1, user: 'Bob', text: '' })
      .replace('PRIVMSG', 'USERNOTICE')
      .replace('@', '@msg-id=raid;system-msg=15\\sraiders;')
    expect(await shown(raid)).toMatchObject([{ text: '15 raiders', kind: 'raid' }])
  })

  it('have emoji by their names', async () => {
    const runs = [
      { text: 'a ' },
      { emoji: { emojiId: 'UC/1', shortcuts: [':wave:'] } },
      { emoji: { emojiId: '🎉' } },
    ]
    const line = youtubeItem(messages[0] ?? never(), undefined, { message: { runs } })
    expect(await shown(line)).toMatchObject([{ text: 'a :wave:🎉' }])
  })

  it.each(Object.entries(formats))('of a hidden user are left out: %s', async (_name, format) => {
    const hiddenUsers = ['bob', 'zoë']
    const others = [{ seconds: 62, user: 'Zoe\u0308', text: 'also hidden' }]
    const chat = await chatOf(format([...messages, ...others]), { hiddenUsers })
    expect(shownOf(chat).map(({ t, user }) => [t, user])).toEqual([[61.5, 'Eve']])
    expect(chat.counts).toEqual([0, 1])
    const { versions } = await chatOf(format(messages.slice(1, 2)), { hiddenUsers })
    expect(chat.versions).toEqual(versions)
  })

  it('of a hidden user are found by the account, too', async () => {
    const localized = { ...messages[0], seconds: 1, user: '日本', text: 'hi' }
    const login = { commenter: { display_name: '日本', name: 'nihon' } }
    const comments = [
      { ...twitchComment(localized), ...login },
      twitchComment(messages[1] ?? never()),
    ]
    const found = await shown(twitchJson([], { comments }), { hiddenUsers: ['nihon'] })
    expect(found.map(({ user }) => user)).toEqual(['Eve'])
    const byChannel = await shown(youtubeLines(messages), { hiddenUsers: ['uceve'] })
    expect(byChannel.map(({ user }) => user)).toEqual(['Bob', 'Bob'])
  })

  it('of a hidden user move no others', async () => {
    const found = await timesOf(ircLines(messages), { parts: [HOUR], hiddenUsers: ['bob'] })
    expect(found).toEqual([60.25])
  })

  it('are left out if they were removed', async () => {
    const remaining = async (content: string): Promise<string[]> =>
      (await shown(content)).map(({ text }) => text)
    expect(await remaining(youtubeLines(messages) + youtubeRemoval(70, '3'))).not.toContain('bye')
    const clear = (command: string, tags = ''): string =>
      `@${tags}tmi-sent-ts=${CHAT_START_MS} :tmi.twitch.tv ${command}\r\n`
    const irc = ircLines(messages)
    expect(await remaining(irc + clear('CLEARMSG #alice :bye', 'target-msg-id=3;'))).toHaveLength(2)
    expect(await remaining(irc + clear('CLEARCHAT #alice :bob'))).toEqual([messages[1]?.text])
    const byText = { seconds: 62, user: 'Bob', text: 'bye' }
    expect(await remaining(jsonLines(messages) + jsonLine(byText, 'CLEARMSG'))).toHaveLength(2)
    expect(
      await remaining(jsonLines(messages) + jsonLine({ ...byText, text: '' }, 'CLEARCHAT')),
    ).toHaveLength(1)
  })
})

describe('positions', () => {
  it('are more exact than the whole seconds of the API', async () => {
    expect(await timesOf(twitchJson(messages), { parts: [HOUR] })).toEqual([1.25, 61.5, 61.75])
  })

  it('are corrected where the offsets contradict the times', async () => {
    const comments = messages.map((message) => {
      const comment = twitchComment(message)
      return { ...comment, content_offset_seconds: Math.floor(message.seconds) + 3600 }
    })
    expect(await timesOf(twitchJson([], { comments }), { parts: [HOUR] })).toEqual([
      1.25, 61.5, 61.75,
    ])
  })

  it('are kept where the times are later than the offsets, as after a late start', async () => {
    const video = { created_at: new Date(CHAT_START_MS - 60_000).toISOString() }
    const times = await timesOf(twitchJson(messages, { video }), { parts: [HOUR] })
    expect(times).toEqual([1, 61, 61])
  })

  it('start at 0 in a clipped download', async () => {
    const video = {
      created_at: new Date(CHAT_START_MS).toISOString(),
      start: 60,
      end: 120,
      length: 3600,
    }
    const clip = twitchJson(messages.slice(1), { video })
    expect(await timesOf(clip, { parts: [{ ...STARTED, durationSeconds: 60 }] })).toEqual([
      1.5, 1.75,
    ])
    // Only the chat is clipped.
    expect(await timesOf(clip, { parts: [STARTED] })).toEqual([61.5, 61.75])
  })

  it('follow the clock where the recorder started later than the stream', async () => {
    const late = { ...HOUR, startMs: CHAT_START_MS + 61_000 }
    expect(await timesOf(twitchJson(messages), { parts: [late] })).toEqual([0, 0.5, 0.75])
    expect(await timesOf(ircLines(messages), { parts: [late] })).toEqual([0, 0.5, 0.75])
  })

  it('ignore a start that is in another time zone', async () => {
    const parts = [{ ...HOUR, startMs: CHAT_START_MS - 1_800_000 }]
    expect(await timesOf(twitchJson(messages), { parts })).toEqual([1.25, 61.5, 61.75])
  })

  it('begin with the first message where no start is known', async () => {
    expect(await timesOf(ircLines(messages), { parts: [HOUR] })).toEqual([0, 60.25, 60.5])
  })

  it('of 50 messages before the start are the start', async () => {
    const before = Array.from({ length: 60 }, (_, nth) => ({
      seconds: nth - 60,
      user: 'Bob',
      text: `${nth}`,
    }))
    const found = await shown(youtubeLines([...before, ...messages]))
    expect(found).toHaveLength(50 + messages.length)
    expect(found.slice(0, 50).map(({ t, text }) => [t, text])).toEqual(
      before.slice(10).map(({ text }) => [0, text]),
    )
  })

  it('are later by what an operator has set, or earlier', async () => {
    const later = { parts: [HOUR], offsetSeconds: 10 }
    expect(await timesOf(twitchJson(messages), later)).toEqual([11.25, 71.5, 71.75])
    const earlier = { parts: [STARTED], offsetSeconds: -61 }
    expect(await timesOf(ircLines(messages), earlier)).toEqual([0, 0.5, 0.75])
  })

  it('are not after the end', async () => {
    const parts = [{ ...HOUR, durationSeconds: 31.6 }]
    expect(await timesOf(twitchJson(messages), { parts })).toEqual([1.25, 31.6])
  })

  it('of a part begin at its start', async () => {
    const parts = [
      { startSeconds: 0, durationSeconds: 100 },
      { startSeconds: 100, durationSeconds: 100 },
    ]
    const times = await timesOf([bilibiliXml(messages), bilibiliXml(messages)], { parts })
    expect(times).toEqual([1.25, 61.5, 61.75, 101.25, 161.5, 161.75])
  })

  it('of one chat for all parts follow their clocks, and skip what was not recorded', async () => {
    const parts = [
      { startSeconds: 0, durationSeconds: 30, startMs: CHAT_START_MS },
      { startSeconds: 30, durationSeconds: 100, startMs: CHAT_START_MS + 61_600 },
    ]
    const times = await timesOf(ircLines(messages), { parts })
    expect(times).toEqual([1.25, 30, 30.15])
  })
})

describe('versions', () => {
  const early = Array.from({ length: 20 }, (_, nth) => ({
    seconds: nth,
    user: 'Bob',
    text: `early ${nth}`,
  }))
  const late = { seconds: 30, user: 'Late', text: 'late' }
  const third = { seconds: 125, user: 'Bob', text: 'third minute' }
  const text = ircLines([...early, ...messages, late, third])

  it('identify the bytes of the buckets before them, whatever happens to the file', async () => {
    const bytes = Buffer.from(text)
    const states = fc.record({
      length: fc.nat(bytes.length),
      changed: fc.nat(bytes.length - 1),
      isGrowing: fc.boolean(),
    })
    const whole = await chatOf(bytes)
    await fc.assert(
      fc.asyncProperty(states, async ({ length, changed, isGrowing }) => {
        const copy = Buffer.from(bytes.subarray(0, length))
        if (changed < length) copy.write('x', changed)
        const outcome = await read(copy, { isGrowing })
        if (outcome.status === 'refused') return
        expect(outcome.versions).toHaveLength(outcome.counts.length + 1)
        const equal = outcome.versions.filter((version, nth) => version === whole.versions[nth])
        for (const bucket of equal.slice(1).keys()) {
          expect(bucketOf(outcome, bucket)).toBe(bucketOf(whole, bucket))
        }
      }),
    )
  })

  it('stay while later minutes are added, and change with a late message', async () => {
    const versionsOf = async (...list: MadeMessage[]): Promise<string[]> =>
      (await chatOf(ircLines([...early, ...list]), { isGrowing: true })).versions
    const before = await versionsOf(...messages)
    const after = await versionsOf(...messages, third)
    expect(after.slice(0, 3)).toEqual(before)
    const changed = await versionsOf(...messages, late, third)
    expect(changed.filter((version) => after.includes(version))).toEqual(after.slice(0, 1))
  })
})

it('reads lines of .chat.jsonl without badges and login', async () => {
  const line = { t: new Date(CHAT_START_MS + 1000).toISOString(), u: 'Ann', msg: 'hi' }
  expect(await shown(JSON.stringify(line))).toEqual([{ t: 1, user: 'Ann', text: 'hi' }])
})

it('reads the lists of chat-downloader before version 0.1', async () => {
  const written = { author: 'Ann', author_id: 'UC1', message: 'hi', time_in_seconds: 6 }
  const list = [
    written,
    { ...written, message: '', amount: '£10.00', time_in_seconds: 7 },
    { ...written, badges: 'New member', time_in_seconds: 8 },
  ]
  expect(await shown(JSON.stringify(list), { parts: [HOUR] })).toEqual([
    { t: 6, user: 'Ann', text: 'hi' },
    { t: 7, user: 'Ann', text: '£10.00', kind: 'paid' },
    { t: 8, user: 'Ann', text: 'hi', badges: ['New member'] },
  ])
})

describe('limits', () => {
  const limited = async (
    content: Content,
    limits: Partial<ChatLimits>,
  ): ReturnType<typeof readChat> => {
    const job = {
      files: [{ path: '0', version: '1', parts: [HOUR] }],
      isGrowing: false,
      offsetSeconds: 0,
      hiddenUsers: [],
    }
    return readChat(job, () => Readable.from(chunksOf(content)), { ...CHAT_LIMITS, ...limits })
  }
  const refusedFor = (limit: string, max: number): object => {
    const reason = { code: 'limit-exceeded', limit, max }
    return { status: 'refused', reason }
  }

  it('refuse a file that is too large, also unpacked', async () => {
    const text = twitchJson(messages)
    const sizeBytes = Buffer.byteLength(text)
    expect(await limited(text, { bytes: sizeBytes })).toMatchObject({ counts: [1, 2] })
    const max = sizeBytes - 1
    expect(await limited(text, { bytes: max })).toEqual(refusedFor('chat-bytes', max))
    // Members of gzip may follow each other.
    const member = gzipSync(Buffer.alloc(4 * 1024 * 1024, ' '))
    const bomb = Buffer.concat([gzipSync(text), ...Array.from({ length: 32 }, () => member)])
    const bytes = 100 * 1024 * 1024
    expect(await limited(bomb, { bytes })).toEqual(refusedFor('chat-bytes', bytes))
  })

  it('refuse too many messages, or too much text', async () => {
    const text = twitchJson(messages)
    expect(await limited(text, { messages: 2 })).toEqual(refusedFor('chat-messages', 2))
    const long = { seconds: 1, user: 'Bob', text: 'x'.repeat(500) }
    const lines = jsonLine(long).repeat(5000)
    const storedBytes = 1024 * 1024
    const refused = refusedFor('chat-text-bytes', storedBytes)
    expect(await limited(lines, { storedBytes })).toEqual(refused)
  })

  it('count what the messages of a user have in common once', async () => {
    const badges = Array.from({ length: 8 }, () => 'x'.repeat(40))
    const inMinute = (minute: number): string =>
      `${JSON.stringify({ t: `2026-01-31T20:0${minute}:00Z`, u: 'Bob', msg: 'hi', badges })}\n`
    const lines = inMinute(0).repeat(2500) + inMinute(1).repeat(2500)
    const limits = { storedBytes: 1024 * 1024 }
    expect(await limited(lines, limits)).toMatchObject({ counts: [2500, 2500] })
  })

  it('leave out records that are too long or nested too deeply, and go on', async () => {
    const [first, second] = [
      twitchComment(messages[0] ?? never()),
      twitchComment(messages[1] ?? never()),
    ]
    const long = { ...first, pad: 'x'.repeat(70_000) }
    const chat = await chatOf(twitchJson([], { comments: [first, long, second] }))
    expect(chat.counts).toEqual([1, 1])
    const nested = `${'['.repeat(5_000_000)}`
    expect(await shown(`${twitchJson(messages)}${nested}`)).toHaveLength(3)
    const elements = '<a>'.repeat(1_000_000)
    expect(await shown(bilibiliXml(messages, elements))).toHaveLength(3)
    const attribute = `<d p="${'1'.repeat(5_000_000)}`
    expect(await shown(bilibiliXml(messages, attribute))).toHaveLength(3)
  })

  it('leave out what exceeds a minute', async () => {
    const crowd = Array.from({ length: MAX_BUCKET_MESSAGES + 5 }, () => ({
      seconds: 1,
      user: 'a',
      text: 'b',
    }))
    const chat = await chatOf(jsonLines(crowd))
    expect(chat.counts).toEqual([MAX_BUCKET_MESSAGES])
  })

  it('refuse what is no chat', async () => {
    const files = [
      '',
      '{}',
      '[]',
      '{"title":"x","comments":[]}',
      '<i>',
      'WEBVTT',
      '{"t":1}',
      '@a b c',
    ]
    for (const file of files) {
      expect(isChat(Buffer.from(file)), file).toBe(false)
      expect(await read(file), file).toEqual({ status: 'refused' })
    }
  })
})

function never(): never {
  throw new Error('there is a message')
}
