// A URL names bytes: recordings that are replaced, corrupt or changed in place have other URLs,
// even with equal names, sizes and times, and after a restart.
import { createHash } from 'node:crypto'
import { open, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { playlistApiPath } from '../shared/paths.ts'
import { fetchBytes, fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { makeLargeRecording } from './support/make/make-large-recording.ts'
import { moveMoovFirst } from './support/make/make-mp4.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const DAY = 'alice/2026-01-31'
const MKV = 'mkv-h264-aac-60s.mkv'
const MOOV_LAST = 'mp4-h264-aac51-moov-last-bframes.mp4'

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('replaced')
  const good = await readFile(fixturePath(MKV))
  const corrupt = Buffer.from(good)
  // Between two of 32 samples of 4 KiB, at equal distances.
  const step = Math.floor((good.length - 132 * 1024) / 31)
  const hole = 64 * 1024 + 15 * step + 4096
  corrupt.fill(0, hole, hole + step - 4096)
  await library.place(`${DAY}/good.mkv`, good)
  await library.place(`${DAY}/corrupt.mkv`, corrupt)
  await library.place(`${DAY}/moved.mp4`, MOOV_LAST)
  await library.place(`${DAY}/large.ts`, makeLargeRecording())
  await restart()
})

async function restart(): Promise<void> {
  await (server as StartedServer | undefined)?.stop()
  server = await startServer({
    args: library.args,
    environment: { AFTERCAST_HLS_SECRET: 'a secret' },
  })
}

/** Hashes of a session's segments, as sent and decrypted, by URL path. */
async function segmentsOf(sessionId: string) {
  const session = { streamer: 'alice', date: '2026-01-31', sessionId }
  const { segments } = await fetchPlaylist(server.url + playlistApiPath(session))
  const found = new Map<string, { sent: string; plain: string }>()
  for (const segment of segments) {
    const [sent, plain] = [await fetchBytes(segment.url), await fetchSegment(segment)]
    found.set(new URL(segment.url).pathname, { sent: hashOf(sent), plain: hashOf(plain) })
  }
  return found
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function statusesOf(paths: Iterable<string>): Promise<Set<number>> {
  const statuses = new Set<number>()
  for (const path of paths) statuses.add((await rawRequest(server.url, path)).status)
  return statuses
}

/** Restores a file's times after a change, as `touch -r` does. */
async function keepingTimes(path: string, change: () => Promise<void>): Promise<void> {
  const { atime, mtime } = await stat(path)
  await change()
  await utimes(path, atime, mtime)
}

it('a corrupt copy of equal size and time never changes the bytes of the good one', async () => {
  const good = await segmentsOf('good')
  await restart()
  const corrupt = await segmentsOf('corrupt')
  expect(await segmentsOf('good')).toEqual(good)
  const plain = (of: typeof good) => [...of.values()].map((segment) => segment.plain)
  expect(plain(corrupt)).not.toEqual(plain(good))
})

it('a copy with its tables first, of equal size and time, has other URLs and plays', async () => {
  const before = await segmentsOf('moved')
  const path = library.pathOf(`${DAY}/moved.mp4`)
  const copy = moveMoovFirst(await readFile(path))
  expect(copy.length).toBe((await stat(path)).size)
  await keepingTimes(path, async () => {
    await writeFile(library.pathOf('incoming'), copy)
    await rename(library.pathOf('incoming'), path)
  })
  const after = await segmentsOf('moved')
  expect([...after.values()].map(({ plain }) => plain)).toEqual(
    [...before.values()].map(({ plain }) => plain),
  )
  expect([...before.keys()].some((url) => after.has(url))).toBe(false)
  await restart()
  expect(await segmentsOf('moved')).toEqual(after)
  expect(await statusesOf(before.keys())).toEqual(new Set([404]))
})

it('a large recording that is changed in place, at equal times, has other URLs', async () => {
  const before = await segmentsOf('large')
  const path = library.pathOf(`${DAY}/large.ts`)
  const { size } = await stat(path)
  // In a payload between two samples of the identity.
  const packet = Math.floor(size / 2 / 188) * 188
  await keepingTimes(path, async () => {
    const file = await open(path, 'r+')
    await file.write(Buffer.from('changed'), 0, 7, packet + 100)
    await file.close()
  })
  const after = await segmentsOf('large')
  expect([...before.keys()].some((url) => after.has(url))).toBe(false)
  expect([...after.values()]).not.toEqual([...before.values()])
  await restart()
  expect(await segmentsOf('large')).toEqual(after)
  expect(await statusesOf(before.keys())).toEqual(new Set([404]))
})
