// The program over libraries that change or are hostile, and servers that are interrupted.
import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sessionsResponse, streamersResponse } from '../shared/contract.ts'
import {
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  sessionsPagePath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import type { SessionReference } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { makeLargeRecording } from './support/make/make-large-recording.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { checksumTree } from './support/tree-checksum.ts'

const CANARY = 'canary-0d5b1f6e-outside-of-the-library'

async function start(library: TempLibrary, environment: NodeJS.ProcessEnv = {}) {
  return startServer({
    args: library.args,
    environment,
  })
}

/** `streamer date id length` of every listed session. */
async function listAll(server: StartedServer): Promise<string[]> {
  const { streamers } = parseExactly(
    streamersResponse,
    await askJson(server.url + streamersApiPath),
  )
  const lists = streamers.map(async ({ name, recording_count: count }) => {
    const sessions = parseExactly(
      sessionsResponse,
      await askJson(server.url + sessionsApiPath(name)),
    )
    expect(sessions.length).toBe(count)
    return sessions.map(({ date, sessionId, duration }) =>
      [name, date, sessionId, duration ?? '-'].join(' '),
    )
  })
  return (await Promise.all(lists)).flat()
}

async function askJson(url: string): Promise<unknown> {
  const response = await fetch(url)
  return response.json()
}

async function isPlayable(server: StartedServer, session: SessionReference): Promise<boolean> {
  const { segments } = await fetchPlaylist(server.url + playlistApiPath(session))
  const [first] = segments
  return first !== undefined && (await fetchSegment(first)).length > 1000
}

describe('a library that changes while it is served', () => {
  let library: TempLibrary
  let server: StartedServer
  beforeAll(async () => {
    library = await createTempLibrary('changes')
    await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
    await library.place('bob/2026-01-31/1.mp4', SMALL_FIXTURE)
    server = await start(library)
  })
  it('shows an added recording, with its length', async () => {
    await library.place('carol/2026-02-02/7.ts', 'ts-h264-pts-wrap-33bit.ts')
    await expect.poll(() => listAll(server)).toContain('carol 2026-02-02 7 0:00:20')
    const session = { streamer: 'carol', date: '2026-02-02', sessionId: '7' }
    expect(await isPlayable(server, session)).toBe(true)
  })

  it('shows a replaced recording', async () => {
    await library.place('alice/.new', 'mp4-h264-vfr.mp4')
    await rename(library.pathOf('alice/.new'), library.pathOf('alice/2026-01-31/1.mp4'))
    await expect.poll(() => listAll(server)).toContain('alice 2026-01-31 1 0:00:24')
  })

  it('drops a removed recording, and the streamer of the last one', async () => {
    await rm(library.pathOf('bob'), { recursive: true })
    await expect.poll(async () => (await listAll(server)).join()).not.toContain('bob')
    const gone = { streamer: 'bob', date: '2026-01-31', sessionId: '1' }
    for (const target of [sessionsApiPath('bob'), playlistApiPath(gone), playerPagePath(gone)])
      expect((await fetch(server.url + target)).status).toBe(404)
  })

  it('shows a renamed streamer', async () => {
    await library.place('old/2026-01-31/1.mp4', SMALL_FIXTURE)
    await expect.poll(() => listAll(server)).toContain('old 2026-01-31 1 0:00:10')
    await rename(library.pathOf('old'), library.pathOf('new'))
    await expect.poll(() => listAll(server)).toContain('new 2026-01-31 1 0:00:10')
    expect((await listAll(server)).join()).not.toContain('old')
  })

  it('lists a partial copy without a length, and plays it once it is complete', async () => {
    const bytes = await readFile(fixturePath('mp4-h264-aac51-moov-last-bframes.mp4'))
    const target = library.pathOf('alice/2026-02-03/copy.mp4')
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, bytes.subarray(0, bytes.length / 2))
    await expect.poll(() => listAll(server)).toContain('alice 2026-02-03 copy -')
    await sleep(1500)
    expect(await listAll(server)).toContain('alice 2026-02-03 copy -')
    await writeFile(target, bytes)
    await expect.poll(() => listAll(server)).toContain('alice 2026-02-03 copy 0:00:30')
    const session = { streamer: 'alice', date: '2026-02-03', sessionId: 'copy' }
    expect(await isPlayable(server, session)).toBe(true)
  })

  it('serves the first playable file of a session', async () => {
    await library.place('alice/2026-02-04/two.ts', 'ts-h264-pts-wrap-33bit.ts')
    await expect.poll(() => listAll(server)).toContain('alice 2026-02-04 two 0:00:20')
    await library.place('alice/2026-02-04/two.mp4', SMALL_FIXTURE)
    await expect.poll(() => listAll(server)).toContain('alice 2026-02-04 two 0:00:10')
    await rm(library.pathOf('alice/2026-02-04/two.mp4'))
    await expect.poll(() => listAll(server)).toContain('alice 2026-02-04 two 0:00:20')
  })

  it('skips names that are not valid UTF-8', async () => {
    const name = Buffer.from([0x62, 0xff, 0xfe])
    const folder = Buffer.concat([
      Buffer.from(library.pathOf('')),
      name,
      Buffer.from('/2026-01-31'),
    ])
    await mkdir(folder, { recursive: true })
    await writeFile(Buffer.concat([folder, Buffer.from('/1.mp4')]), 'no recording')
    await library.place('beside/2026-01-31/1.mp4', SMALL_FIXTURE)
    await expect.poll(() => listAll(server)).toContain('beside 2026-01-31 1 0:00:10')
    expect((await listAll(server)).join()).not.toContain('\uFFFD')
  })

  it('changes the ETag of changed lists', async () => {
    const before = (await fetch(server.url + streamersApiPath)).headers.get('etag')
    await library.place('dora/2026-02-02/1.mp4', SMALL_FIXTURE)
    await expect
      .poll(async () => (await fetch(server.url + streamersApiPath)).headers.get('etag'))
      .not.toBe(before)
  })
})

describe('a library by a link that is switched to another folder', () => {
  it('is served by every worker, with what the other folder contains', async () => {
    const library = await createTempLibrary('switched')
    await library.place('one/alice/2026-01-31/1.mp4', SMALL_FIXTURE)
    await library.place('two/alice/2026-01-31/1.mp4', 'mp4-h264-vfr.mp4')
    await library.place('two/alice/2026-02-01/2.mp4', SMALL_FIXTURE)
    const link = path.join(library.folder, 'current')
    await symlink(library.pathOf('one'), link)
    const server = await startServer({
      args: [link, '--data', library.data],
      environment: { AFTERCAST_WORKERS: '2' },
    })
    await expect.poll(() => listAll(server), soon).toEqual(['alice 2026-01-31 1 0:00:10'])
    await askTwice(server, { streamer: 'alice', date: '2026-01-31', sessionId: '1' })
    await symlink(library.pathOf('two'), `${link}.new`)
    await rename(`${link}.new`, link)
    const listed = ['alice 2026-02-01 2 0:00:10', 'alice 2026-01-31 1 0:00:24']
    await expect.poll(() => listAll(server), soon).toEqual(listed)
    for (const [date, sessionId] of [
      ['2026-01-31', '1'],
      ['2026-02-01', '2'],
    ] as const) {
      await askTwice(server, { streamer: 'alice', date, sessionId })
    }
  })

  /** Each worker serves every other connection. */
  async function askTwice(server: StartedServer, session: SessionReference): Promise<void> {
    for (let i = 0; i < 4; i += 1) {
      const { status, body } = await rawRequest(server.url, playlistApiPath(session))
      expect(status).toBe(200)
      const segment = body.toString().match(/^[^#\s].*$/m)?.[0] ?? ''
      const { pathname } = new URL(segment, server.url + playlistApiPath(session))
      expect((await rawRequest(server.url, pathname)).status).toBe(200)
    }
  }
})

/**
 * Names that file systems accept, each for a streamer and a session.
 */
const HOSTILE_NAMES = [
  'with space',
  '100%',
  '%2e%2e',
  '%00',
  'a#b?c=d&e',
  `quotes'"\``,
  '-rf',
  '--help',
  'line\nbreak',
  'tab\there',
  '#EXT-X-ENDLIST',
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>'.replaceAll('/', '\\'),
  'back\\slash',
  'up\\..\\..\\etc',
  'C:',
  'dots...',
  'dots and space... ',
  ' leading',
  'Zoë'.normalize('NFC'),
  'Ångström'.normalize('NFD'),
  '👩‍👩‍👧‍👦 🎮',
  'مرحبا',
  '\u202Egpj.exe',
  'zero\u200Bwidth',
  '日本語'.repeat(10),
  '__proto__',
  'constructor',
  'null',
  'playlist.m3u8',
  'key',
  ';semi,comma=equals+plus',
  'mixed.dots.in.name',
  '\u{10FFFF}',
]

describe('a library of hostile names', () => {
  let library: TempLibrary
  let server: StartedServer
  let before = ''
  beforeAll(async () => {
    library = await createTempLibrary('hostile')
    for (const name of HOSTILE_NAMES)
      await library.place(`${name}/2026-01-31/${name}.mp4`, SMALL_FIXTURE)
    // the longest name of a file system: 255 bytes
    await library.place(`${'s'.repeat(255)}/2026-01-31/${'i'.repeat(251)}.mp4`, SMALL_FIXTURE)
    // one name in both normal forms: one streamer
    await library.place(`${'é'.normalize('NFC')}/2026-01-31/1.mp4`, SMALL_FIXTURE)
    await library.place(`${'é'.normalize('NFD')}/2026-01-31/2.mp4`, SMALL_FIXTURE)
    await placeTraps(library)
    before = await checksumTree(library.recordings)
    server = await start(library)
  })
  const sessions: SessionReference[] = [
    ...HOSTILE_NAMES.map((name) => ({
      streamer: name.normalize('NFC'),
      date: '2026-01-31',
      sessionId: name.normalize('NFC'),
    })),
    { streamer: 's'.repeat(255), date: '2026-01-31', sessionId: 'i'.repeat(251) },
    { streamer: 'é'.normalize('NFC'), date: '2026-01-31', sessionId: '1' },
    { streamer: 'é'.normalize('NFC'), date: '2026-01-31', sessionId: '2' },
  ]

  it('lists each of them once, in NFC', async () => {
    const { streamers } = parseExactly(
      streamersResponse,
      await askJson(server.url + streamersApiPath),
    )
    const names = new Set(sessions.map(({ streamer }) => streamer))
    expect(new Set(streamers.map(({ name }) => name))).toEqual(names)
    expect(streamers.length).toBe(names.size)
  })

  it('lists and plays each by round trip through its URLs, in either form', async () => {
    for (const session of sessions) {
      const listed = await askJson(server.url + sessionsApiPath(session.streamer))
      const ids = parseExactly(sessionsResponse, listed).map(({ sessionId }) => sessionId)
      expect(ids).toContain(session.sessionId)
      expect(await isPlayable(server, session), JSON.stringify(session)).toBe(true)
      const decomposed = { ...session, streamer: session.streamer.normalize('NFD') }
      expect((await fetch(server.url + playlistApiPath(decomposed))).status).toBe(200)
    }
  })

  it('has a page for each, with no name as HTML', async () => {
    for (const session of sessions) {
      for (const target of [sessionsPagePath(session.streamer), playerPagePath(session)]) {
        const page = await fetch(server.url + target)
        expect(page.status, target.slice(0, 80)).toBe(200)
        const html = await page.text()
        expect(html).not.toMatch(/<img|<script>alert/)
      }
    }
  })

  it('writes no name into a playlist', async () => {
    for (const session of sessions) {
      const { text } = await fetchPlaylist(server.url + playlistApiPath(session))
      expect(text.match(/#EXT-X-ENDLIST/g)?.length).toBe(1)
      for (const line of text.split('\n')) expect(line).toMatch(/^(#EXT[\w-]*.*|[\w-]+\/[\w.-]+|)$/)
    }
  })

  it('lists only recordings: no hidden or other files, no links out of the library', async () => {
    const text = (await listAll(server)).join('\n')
    expect(text).not.toMatch(/hidden|notes|evil|outside|fifo/)
  })

  it('follows a link that stays inside', async () => {
    await symlink(library.pathOf('key'), library.pathOf('linked'))
    await expect.poll(() => listAll(server)).toContain('linked 2026-01-31 key 0:00:10')
    await rm(library.pathOf('linked'))
  })

  it('serves nothing from outside, whatever the request path', async () => {
    const all = traversalTargets(library)
    expect(all.length).toBeGreaterThan(1000)
    const targets = all.values()
    const lane = async (): Promise<void> => {
      for (const target of targets) await expectNothingFromOutside(target)
    }
    await Promise.all(Array.from({ length: 8 }, lane))
  })

  async function expectNothingFromOutside(target: string): Promise<void> {
    const { status, body, headers } = await rawRequest(server.url, target)
    expect(status, target).toBeGreaterThanOrEqual(200)
    expect(status, target).toBeLessThan(500)
    expect(body.includes(CANARY), target).toBe(false)
    // a line of /etc/passwd
    expect(body.toString('latin1'), target).not.toMatch(/root:[^:]*:0:0:/)
    // Only of a page's path with a slash at its end.
    expect(headers.location ?? '/s/none', target).toMatch(/^\/[sp]\/[^/]/)
  }

  it('serves nothing from outside through a folder replaced by a link', async () => {
    await library.place('swapped/2026-01-31/1.mp4', SMALL_FIXTURE)
    const session = { streamer: 'swapped', date: '2026-01-31', sessionId: '1' }
    await expect.poll(() => listAll(server)).toContain('swapped 2026-01-31 1 0:00:10')
    const { segments } = await fetchPlaylist(server.url + playlistApiPath(session))
    await rm(library.pathOf('swapped'), { recursive: true })
    await symlink(path.join(library.folder, 'outside'), library.pathOf('swapped'))
    for (const url of [server.url + playlistApiPath(session), segments[0]?.url ?? ''])
      expect((await fetch(url)).status).toBe(404)
    await rm(library.pathOf('swapped'))
  })

  it('never wrote to the library', async () => {
    // the tests above changed the folder's own time
    expect(await checksumTree(library.recordings)).toBe(before)
  })
})

/** Files that must not be listed or served, inside and outside the library. */
async function placeTraps(to: TempLibrary): Promise<void> {
  const outside = path.join(to.folder, 'outside')
  await mkdir(path.join(outside, '2026-01-31'), { recursive: true })
  await writeFile(path.join(outside, 'canary.txt'), CANARY)
  await writeFile(path.join(to.folder, 'canary.txt'), CANARY)
  await writeFile(
    path.join(outside, '2026-01-31/1.mp4'),
    await readFile(fixturePath(SMALL_FIXTURE)),
  )
  // a folder whose name has the library's as its prefix
  await mkdir(`${to.recordings}-evil`, { recursive: true })
  await writeFile(`${to.recordings}-evil/canary.txt`, CANARY)
  await to.place('.hidden/2026-01-31/1.mp4', SMALL_FIXTURE)
  await to.place('key/2026-01-31/.hidden.mp4', SMALL_FIXTURE)
  await to.place('key/2026-01-31/notes.txt', Buffer.from('notes'))
  await symlink(outside, to.pathOf('outside'))
  await symlink(path.join(outside, '2026-01-31/1.mp4'), to.pathOf('key/2026-01-31/evil.mp4'))
  await symlink('loop', to.pathOf('loop'))
  await promisify(execFile)('mkfifo', [to.pathOf('key/2026-01-31/fifo.mp4')])
  await symlink('/nowhere/at/all.mp4', to.pathOf('key/2026-01-31/evil-dangling.mp4'))
}

const CLIMBS = ['..', '../..', '../outside', '../recordings-evil', '/etc', '//etc', '.', '~', '\0']
const TAILS = ['canary.txt', 'passwd', '2026-01-31/1.mp4', '']

/** Every path traversal, in every encoding, at every parameter of every route. */
function traversalTargets({ folder }: TempLibrary): string[] {
  const attempts = new Set([...CLIMBS, `${folder}/canary.txt`, `${folder}/outside/canary.txt`])
  for (const climb of CLIMBS) for (const tail of TAILS) attempts.add(`${climb}/${tail}`)
  const forms = [...attempts].flatMap((text) => [
    encodeURIComponent(text).replaceAll('.', '%2e'),
    encodeURIComponent(encodeURIComponent(text).replaceAll('.', '%2e')),
    encodeURIComponent(text.replaceAll('/', '\\')),
    // unencoded, where a request line can contain it
    text.replaceAll('\0', '%00'),
    text.replaceAll('\0', '%00').replaceAll('..', '%c0%ae%c0%ae'),
  ])
  const routes = [
    '/X',
    '/s/X',
    '/p/X/2026-01-31/key',
    '/p/key/X/key',
    '/p/key/2026-01-31/X',
    '/assets/X',
    '/api/sessions/X',
    '/api/thumbnail-streamer/X',
    '/api/thumbnail/X/2026-01-31/key',
    '/api/thumbnail/key/X/key',
    '/api/thumbnail/key/2026-01-31/X',
    '/api/video/X/2026-01-31/key/playlist.m3u8',
    '/api/video/key/X/key/playlist.m3u8',
    '/api/video/key/2026-01-31/X/playlist.m3u8',
    '/api/video/key/2026-01-31/key/X/0.m4s',
    '/api/video/key/2026-01-31/key/X',
  ]
  return [...new Set(forms)].flatMap((form) =>
    routes.map((route) => route.replace('X', () => form)),
  )
}

async function acceptsConnections(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}

describe('a server that is interrupted', () => {
  let library: TempLibrary | undefined
  afterEach(() => {
    library = undefined
  })

  /** Hundreds of recordings of different sizes. */
  async function manyRecordings(count: number): Promise<TempLibrary> {
    const many = await createTempLibrary('many')
    const bytes = await readFile(fixturePath(SMALL_FIXTURE))
    for (let i = 0; i < count; i += 1) {
      const free = Buffer.alloc(8 + i)
      free.writeUInt32BE(free.length)
      free.write('free', 4)
      const name = `streamer ${i % 10}/2026-01-${10 + (i % 20)}/${i}.mp4`
      await many.place(name, Buffer.concat([bytes, free]))
    }
    return many
  }

  it('loses nothing if it is killed during a scan, and indexes nothing twice', async () => {
    const count = 200
    library = await manyRecordings(count)
    for (const afterMs of [50, 400]) {
      const killed = await start(library)
      await sleep(afterMs)
      await killed.kill()
    }
    const server = await start(library)
    const expected = expect.stringMatching(/ 0:00:10$/)
    await expect
      .poll(async () => (await listAll(server)).filter((line) => !line.endsWith(' -')).length, {
        interval: 500,
      })
      .toBe(count)
    expect(await listAll(server)).toEqual(Array.from({ length: count }, () => expected))
    expect(await server.stop()).toBe(0)
    const indexed = await indexTimes(library)
    expect(indexed.size).toBe(count)

    const again = await start(library)
    expect((await listAll(again)).length).toBe(count)
    await sleep(500)
    expect(await again.stop()).toBe(0)
    expect(await indexTimes(library)).toEqual(indexed)
  })

  it('finishes open responses on SIGTERM, and exits with 0', async () => {
    library = await createTempLibrary('ending')
    await library.place('alice/2026-01-31/1.ts', makeLargeRecording())
    for (const workers of ['1', '2']) {
      const server = await start(library, { AFTERCAST_WORKERS: workers })
      const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
      const { segments } = await fetchPlaylist(server.url + playlistApiPath(session))
      const response = await open(segments[0]?.url ?? '')
      const stopped = server.stop()
      // Then all workers have got the signal. A response that is too slow is aborted later.
      const isClosed = async () => !(await acceptsConnections(server.url))
      await expect.poll(isClosed, { interval: 10 }).toBe(true)
      expect(await countBytes(response)).toBe(Number(response.headers['content-length']))
      expect(await stopped).toBe(0)
      // Other than these, which a slow machine gets, it prints nothing.
      const slow = /"msg":"(?:slow request|indexing recordings|the recordings are indexed)"/
      const others = server
        .output()
        .trimEnd()
        .split('\n')
        .filter((line) => !slow.test(line))
      expect(others).toEqual([`Aftercast is ready at ${server.url}`])
    }
  })

  it('serves the same with several workers as with one', async () => {
    library = await createTempLibrary('workers')
    await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
    await library.place('alice/2026-01-31/2.ts', 'ts-h264-pts-wrap-33bit.ts')
    const answers: string[][] = []
    for (const workers of ['1', '2']) {
      const server = await start(library, { AFTERCAST_WORKERS: workers })
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
      const lengths = ['alice 2026-01-31 2 0:00:20', 'alice 2026-01-31 1 0:00:10']
      await expect.poll(() => listAll(server)).toEqual(lengths)
      const each = Array.from({ length: 8 }, () => everyResponse(server))
      const [first = [], ...others] = await Promise.all(each)
      for (const other of others) expect(other).toEqual(first)
      answers.push(first)
      await server.stop()
    }
    expect(answers[1]).toEqual(answers[0])
  })
})

/** Index files with their modification times, which change when an index is made again. */
async function indexTimes({ data }: TempLibrary): Promise<Map<string, number>> {
  const folder = path.join(data, 'indexes')
  const names = (await readdir(folder, { recursive: true })).filter((name) =>
    name.endsWith('.index'),
  )
  const times = names.toSorted().map(async (name): Promise<[string, number]> => {
    return [name, (await stat(path.join(folder, name))).mtimeMs]
  })
  return new Map(await Promise.all(times))
}

/**
 * An unread response on its own connection: its body is larger than socket buffers.
 */
async function open(url: string): Promise<IncomingMessage> {
  const request = get(url, { agent: false })
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.once('response', resolve).once('error', reject)
  return promise
}

async function countBytes(response: IncomingMessage): Promise<number> {
  let count = 0
  for await (const chunk of response) count += Buffer.from(chunk as Uint8Array).length
  return count
}

/** Every list, playlist and first segment, each over a connection that any worker may accept. */
async function everyResponse(server: StartedServer): Promise<string[]> {
  const answers: string[] = []
  const ask = async (target: string): Promise<string> => {
    const { status, body } = await rawRequest(server.url, target)
    answers.push(`${status} ${target} ${body.toString('base64')}`)
    return body.toString()
  }
  await ask(streamersApiPath)
  await ask(sessionsApiPath('alice'))
  await ask(streamerThumbnailApiPath('nobody'))
  for (const sessionId of ['1', '2']) {
    const session = { streamer: 'alice', date: '2026-01-31', sessionId }
    const playlist = playlistApiPath(session)
    const first = (await ask(playlist)).split('\n').find((line) => /^[\w-]+\//.test(line))
    await ask(playlist.replace('playlist.m3u8', first ?? 'none'))
    await ask(thumbnailApiPath({ ...session, sessionId: 'none' }))
  }
  return answers
}
