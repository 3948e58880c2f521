// Chats through the program: index and buckets, their headers, growth, hides, and what is refused.
import { appendFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { imageSize } from 'image-size'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { chatBucketResponse, chatIndexResponse, sessionResponse } from '../shared/contract.ts'
import type { ChatIndexResponse } from '../shared/contract.ts'
import { chatApiPath, detailsApiPath, sessionApiPath } from '../shared/paths.ts'
import {
  bilibiliXml,
  embeddedData,
  ircLine,
  ircLines,
  twitchJson,
} from './support/make/make-chat.ts'
import { BLUE, GREEN, makeGif, makePng, RED } from './support/make/make-emotes.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import type { RawResponse } from './support/servers/raw-request.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const DATE = '2026-01-31'
const IMMUTABLE = 'public, max-age=31536000, immutable'
const SHORT = 'public, max-age=2'
/** More than a chat file may have. */
const TOO_LARGE = 1024 * 1024 * 1024 + 1

const messages = [
  { seconds: 1.25, user: 'Bob', text: 'hello', color: '#FF0000' },
  { seconds: 5.5, user: 'Eve', text: '<b>日本</b>' },
]
/** Long enough for compression. */
const crowd = Array.from({ length: 200 }, (_, nth) => ({
  seconds: 6 + nth / 100,
  user: `User${nth}`,
  text: `message ${nth}`,
}))

const square = { width: 56, height: 56 }
const emotesJson = twitchJson(
  [
    { seconds: 1, user: 'Bob', text: 'hello catJAM catJAM', emotes: {} },
    { seconds: 2, user: 'Eve', text: 'bobWave hello', emotes: { bobWave: '25' } },
  ],
  {
    embeddedData: embeddedData(
      { hello: Buffer.from('no image'), catJAM: makeGif(square, [RED, BLUE]) },
      { 25: makePng({ width: 84, height: 28 }, GREEN) },
    ),
  },
)

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('chat')
  const place: TempLibrary['place'] = async (name, ...content) =>
    library.place(`alice/${DATE}/${name}`, ...content)
  const ids = ['talk', 'talk-2', 'silent', 'hidden', 'growing', 'large', 'people', 'emotes']
  for (const id of [...ids, 'parts/a', 'parts/b', 'whole/a'])
    await place(`${id}.mp4`, SMALL_FIXTURE)
  await place('talk.json.gz', gzipSync(twitchJson([...messages, ...crowd])))
  await place('talk.info.json', Buffer.from(JSON.stringify({ title: 'Talk' })))
  await place('talk-2_chat.json', Buffer.from(twitchJson(messages.slice(1))))
  await place('hidden.xml', Buffer.from(bilibiliXml(messages)))
  await place('people.json', Buffer.from(twitchJson(messages)))
  await place('emotes.json', Buffer.from(emotesJson))
  await place('silent.json', Buffer.from('{"comments":[]}'))
  await place('parts/a.xml', Buffer.from(bilibiliXml(messages)))
  await place('parts/b.xml', Buffer.from(bilibiliXml(messages)))
  await place('whole/chat.json', Buffer.from(twitchJson(messages)))
  await place('growing.log', Buffer.from(ircLines([...messages, ...crowd])), new Date())
  await place('large.json', Buffer.from(twitchJson(messages)))
  await truncate(library.pathOf(`alice/${DATE}/large.json`), TOO_LARGE)
  const old = new Date('2026-02-01T00:00:00Z')
  await utimes(library.pathOf(`alice/${DATE}/large.json`), old, old)
  // Longer than the test takes: nothing settles by itself.
  server = await startServer({ args: library.args, settings: { library: { settleSeconds: 3600 } } })
  await vi.waitFor(async () => {
    for (const id of [...ids, 'parts', 'whole']) {
      const { durationSeconds } = await detailsOf(id)
      if (!durationSeconds) throw new Error(`${id} is not indexed:\n${server.output()}`)
    }
  }, soon)
})

const named = (sessionId: string) => ({ streamer: 'alice', date: DATE, sessionId })

/** The response, once the server is not too busy for it. */
async function get(target: string, headers: Record<string, string> = {}): Promise<RawResponse> {
  return vi.waitFor(async () => {
    const response = await rawRequest(server.url, target, { headers })
    if (response.status === 503) throw new Error(response.body.toString())
    return response
  }, soon)
}

async function detailsOf(id: string) {
  const { body } = await get(sessionApiPath(named(id)))
  return parseExactly(sessionResponse, JSON.parse(body.toString()))
}

async function indexOf(id: string): Promise<ChatIndexResponse> {
  const { status, body } = await get(chatApiPath(named(id)))
  expect(status, body.toString()).toBe(200)
  return parseExactly(chatIndexResponse, JSON.parse(body.toString()))
}

const bucketPath = (id: string, version: string, bucket: number | string): string =>
  chatApiPath(named(id)).replace('index.json', `${version}/${bucket}.json`)

const imagePath = (id: string, version: string): string =>
  chatApiPath(named(id)).replace('index.json', `${version}/emotes.webp`)

const statusOf = async (target: string): Promise<number> => (await get(target)).status

/** Time and text of all messages. */
async function chatOf(id: string): Promise<[number, string][]> {
  const { version, counts } = await indexOf(id)
  const found: [number, string][] = []
  for (const bucket of counts.keys()) {
    const { body } = await get(bucketPath(id, version, bucket))
    const parsed = parseExactly(chatBucketResponse, JSON.parse(body.toString()))
    expect(parsed.messages).toHaveLength(counts[bucket] ?? 0)
    found.push(...parsed.messages.map(({ t, text }): [number, string] => [t, text]))
  }
  return found
}

describe('the chat of a session', () => {
  it('has an index, whose URL is in the details of the session', async () => {
    const { chat, title } = await detailsOf('talk')
    expect(title).toBe('Talk')
    expect(chat).toEqual({ url: chatApiPath(named('talk')) })
    const index = await indexOf('talk')
    expect(index).toMatchObject({ bucketSeconds: 60, counts: [202], total: 202, growing: false })
    const { headers } = await get(chatApiPath(named('talk')))
    expect(headers['cache-control']).toBe(SHORT)
    expect(headers['cache-tag']).toBeDefined()
  })

  it('has immutable, compressed buckets with the tags of the session', async () => {
    const { version } = await indexOf('talk')
    const bucket = await get(bucketPath('talk', version, 0), { 'accept-encoding': 'gzip, br' })
    expect(bucket.headers).toMatchObject({
      'cache-control': IMMUTABLE,
      'content-encoding': 'br',
      'content-type': 'application/json; charset=utf-8',
      vary: 'Accept-Encoding',
      'surrogate-key': expect.any(String),
    })
    const parsed: unknown = JSON.parse(brotliDecompressSync(bucket.body).toString())
    const [first, second] = parseExactly(chatBucketResponse, parsed).messages
    expect(first).toEqual({
      t: 1.25,
      user: 'Bob',
      color: '#ff0000',
      text: 'hello',
      badges: ['subscriber'],
    })
    expect(second).toMatchObject({ t: 5.5, text: '<b>日本</b>' })
    const { etag = '' } = bucket.headers
    const again = await get(bucketPath('talk', version, 0), { 'if-none-match': etag })
    expect(again.status).toBe(304)
  })

  it('is that of the recording with the longest name', async () => {
    expect(await chatOf('talk-2')).toEqual([[5.5, '<b>日本</b>']])
  })

  it('begins for each part at its start, or covers all parts', async () => {
    const { durationSeconds = NaN } = await detailsOf('parts')
    const found = await chatOf('parts')
    expect(found.map(([, text]) => text)).toEqual(['hello', '<b>日本</b>', 'hello', '<b>日本</b>'])
    expect(found[2]?.[0]).toBeCloseTo(durationSeconds / 2 + 1.25, 1)
    expect(await chatOf('whole')).toEqual([
      [1.25, 'hello'],
      [5.5, '<b>日本</b>'],
    ])
  })

  it('does not exist without a chat file, nor under another version or number', async () => {
    expect((await detailsOf('silent')).chat).toBeUndefined()
    expect(await statusOf(chatApiPath(named('silent')))).toBe(404)
    expect(await statusOf(chatApiPath(named('absent')))).toBe(404)
    const { version } = await indexOf('talk')
    for (const bucket of [1, '00', '-1', 'x', '1e0']) {
      expect(await statusOf(bucketPath('talk', version, bucket))).toBe(404)
    }
    expect(await statusOf(bucketPath('talk', 'other', 0))).toBe(404)
    expect(await statusOf(`/api/chat/alice/${DATE}/%2F/index.json`)).toBe(400)
  })

  it('has another version once the file is replaced', async () => {
    const { version } = await indexOf('whole')
    const more = twitchJson([...messages, { seconds: 6, user: 'Bob', text: 'more' }])
    await library.place(`alice/${DATE}/whole/chat.json`, Buffer.from(more))
    await expect.poll(async () => (await indexOf('whole')).total, soon).toBe(3)
    expect((await indexOf('whole')).version).not.toBe(version)
    expect(await statusOf(bucketPath('whole', version, 0))).toBe(404)
  })

  it('has immutable buckets before the last one while it grows', async () => {
    const { version: early, counts, growing } = await indexOf('growing')
    expect({ counts, growing }).toEqual({ counts: [202], growing: true })
    const cacheOf = async (version: string, bucket: number): Promise<string | undefined> =>
      (await get(bucketPath('growing', version, bucket))).headers['cache-control']
    expect(await cacheOf(early, 0)).toBe(SHORT)
    const file = library.pathOf(`alice/${DATE}/growing.log`)
    await appendFile(file, ircLine({ seconds: 65, user: 'Bob', text: 'later' }))
    await expect.poll(async () => (await indexOf('growing')).counts, soon).toEqual([202, 1])
    const { version } = await indexOf('growing')
    expect(await cacheOf(early, 0)).toBe(SHORT)
    expect(await cacheOf(version, 0)).toBe(IMMUTABLE)
    expect(await cacheOf(version, 1)).toBe(SHORT)
  })

  it('is off, or moved, where a sidecar says so', async () => {
    const write = async (name: string, value: object): Promise<void> =>
      writeFile(library.pathOf(name), JSON.stringify(value))
    await write(`alice/${DATE}/talk.info.json`, { title: 'Talk', chatOffsetSeconds: 2 })
    await expect.poll(async () => (await chatOf('talk'))[0], soon).toEqual([3.25, 'hello'])
    await write('alice/streamer.json', { displayName: 'Alice', chat: 'off' })
    await expect.poll(async () => statusOf(chatApiPath(named('talk'))), soon).toBe(404)
    await expect.poll(async () => (await detailsOf('talk')).chat, soon).toBeUndefined()
    const { body } = await get(detailsApiPath('alice'))
    expect(JSON.parse(body.toString())).toMatchObject({ displayName: 'Alice' })
    expect(JSON.parse(body.toString())).not.toHaveProperty('chat')
    await write(`alice/${DATE}/talk.info.json`, { title: 'Talk', chat: 'on' })
    await expect.poll(async () => statusOf(chatApiPath(named('talk'))), soon).toBe(200)
    expect((await chatOf('talk'))[0]).toEqual([1.25, 'hello'])
    await rm(library.pathOf('alice/streamer.json'))
    await expect.poll(async () => statusOf(chatApiPath(named('people'))), soon).toBe(200)
  })

  it('has its emotes in one immutable image, of which the index has the parts', async () => {
    const { emotes } = await indexOf('emotes')
    expect(emotes).toEqual({
      version: expect.any(String),
      width: 226,
      height: 56,
      list: [
        { name: 'catJAM', x: 0, y: 0, width: 56 },
        { name: 'bobWave', x: 58, y: 0, width: 168 },
      ],
    })
    expect((await chatOf('emotes')).map(([, text]) => text)).toEqual([
      'hello catJAM catJAM',
      'bobWave hello',
    ])
    const target = imagePath('emotes', emotes?.version ?? '')
    const { status, headers, body } = await get(target, { 'accept-encoding': 'gzip, br' })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'cache-control': IMMUTABLE,
      'content-type': 'image/webp',
      'cross-origin-resource-policy': 'cross-origin',
      'surrogate-key': expect.any(String),
      etag: expect.any(String),
    })
    expect(headers['content-encoding']).toBeUndefined()
    const { width, height } = imageSize(body)
    expect([width, height]).toEqual([226, 56])
    const { etag = '' } = headers
    expect((await get(target, { 'if-none-match': etag })).status).toBe(304)
    expect(await statusOf(imagePath('emotes', 'other'))).toBe(404)
    expect(await statusOf(imagePath('talk', emotes?.version ?? ''))).toBe(404)
    expect((await indexOf('talk')).emotes).toBeUndefined()
  })

  it('is gone while the session is hidden', async () => {
    const { version } = await indexOf('hidden')
    const { emotes } = await indexOf('emotes')
    for (const id of ['hidden', 'emotes']) {
      const hide = ['hide', `alice/${DATE}/${id}`, '--data', library.data]
      expect((await runInProcess(hide, { workingFolder: library.folder })).code).toBe(0)
      await expect.poll(async () => statusOf(chatApiPath(named(id))), soon).toBe(410)
    }
    expect(await statusOf(bucketPath('hidden', version, 0))).toBe(410)
    expect(await statusOf(imagePath('emotes', emotes?.version ?? ''))).toBe(410)
  })

  it('has no message of a hidden user, until that user is shown again', async () => {
    const run = async (...args: string[]): Promise<string> => {
      const options = { workingFolder: library.folder }
      const { code, stdout, stderr } = await runInProcess(
        [...args, '--data', library.data],
        options,
      )
      expect([code, stderr]).toEqual([0, ''])
      return stdout
    }
    const textsOf = async (id: string): Promise<string[]> =>
      (await chatOf(id)).map(([, text]) => text)
    const all = messages.map(({ text }) => text)
    expect(await textsOf('people')).toEqual(all)
    const { version } = await indexOf('people')
    expect(await run('hide', '--chat-user', 'EVE', 'alice')).toBe(
      `eve in chats of alice is hidden in ${library.data}\n`,
    )
    await expect.poll(async () => textsOf('people'), soon).toEqual(['hello'])
    expect(await indexOf('people')).toMatchObject({ total: 1, counts: [1] })
    expect(await statusOf(bucketPath('people', version, 0))).toBe(404)
    expect(await textsOf('growing')).not.toContain('<b>日本</b>')
    await run('hide', '--chat-user', 'bob', 'alice')
    await expect.poll(async () => statusOf(chatApiPath(named('people'))), soon).toBe(404)
    expect(await run('hide', '--list')).toContain('--chat-user bob alice\n--chat-user eve alice\n')
    for (const user of ['bob', 'eve']) await run('unhide', '--chat-user', user, 'alice')
    await expect.poll(async () => statusOf(chatApiPath(named('people'))), soon).toBe(200)
    expect(await textsOf('people')).toEqual(all)
    expect((await indexOf('people')).version).toBe(version)
    await run('hide', '--chat-user', 'eve')
    await expect.poll(async () => textsOf('people'), soon).toEqual(['hello'])
    await run('hide', '--undo')
    await expect.poll(async () => textsOf('people'), soon).toEqual(all)
  })

  it('is refused, with a reason in the check, if it is too large', async () => {
    expect(await statusOf(chatApiPath(named('large')))).toBe(404)
    const check = ['check', library.recordings, '--data', library.data, '--json']
    const { code, stdout } = await runInProcess(check, { workingFolder: library.folder })
    expect(code).toBe(0)
    const { recordings }: { recordings: unknown } = JSON.parse(stdout)
    expect(recordings).toMatchObject([
      {
        path: `alice/${DATE}/large.mp4`,
        outcome: 'limited',
        problems: [
          {
            code: 'chat-not-served',
            part: 'large.json',
            cause: { code: 'limit-exceeded', limit: 'chat-bytes', max: TOO_LARGE - 1 },
          },
        ],
      },
    ])
  })
})

it('is not served if `chat` is false, and is stored for the next start', async () => {
  await server.stop()
  const start = async (chat: string): Promise<void> => {
    const environment = { AFTERCAST_CHAT: chat }
    server = await startServer({ args: library.args, environment })
  }
  await start('false')
  await expect.poll(async () => statusOf(sessionApiPath(named('talk'))), soon).toBe(200)
  expect((await detailsOf('talk')).chat).toBeUndefined()
  expect(await statusOf(chatApiPath(named('talk')))).toBe(404)
  await server.stop()
  await start('true')
  await expect.poll(async () => statusOf(chatApiPath(named('talk'))), soon).toBe(200)
  expect((await chatOf('talk')).length).toBe(202)
})
