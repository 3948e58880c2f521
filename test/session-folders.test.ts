// Folders of parts, through the real program: one session in one playlist, whatever happens to the
// parts.
import { appendFile, readFile, utimes } from 'node:fs/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { playlistApiPath, sessionsApiPath } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import type { ListedPlaylist } from './support/servers/hls-client.ts'
import { makeLongTs } from './support/make/make-long-ts.ts'
import { VIDEO_PID } from './support/make/make-ts.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { BROKEN_FIXTURE, createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { packetsOfPid } from './support/verify/ts-segments.ts'
import { soon } from './support/patience.ts'

/** Longer than any test takes: nothing settles by itself. */
const SETTLE_SECONDS = 3600
const SETTLED_AT = new Date('2026-01-31T21:00:00Z')
const DAY = 'alice/2026-01-31'

let library: TempLibrary
let server: StartedServer
/** A minute of MPEG-TS. */
let minute: Buffer

beforeAll(async () => {
  library = await createTempLibrary('folders')
  const made = `${library.folder}/made.ts`
  await makeLongTs(made, 60)
  minute = await readFile(made)
  await library.place(`${DAY}/mixed/2026-01-31_20-00-00.ts`, minute)
  await library.place(`${DAY}/mixed/2026-01-31_20-10-00.mp4`, BROKEN_FIXTURE)
  await library.place(`${DAY}/mixed/2026-01-31_20-30-00.mp4`, SMALL_FIXTURE)
  await library.place(`${DAY}/mixed/part10.ts`, minute)
  await library.place(`${DAY}/mixed/notes.txt`, Buffer.from('nothing to play'))
  await library.place(`${DAY}/broken/part1.mp4`, BROKEN_FIXTURE)
  const settings = { library: { settleSeconds: SETTLE_SECONDS } }
  server = await startServer({ args: library.args, settings })
})

function playlistUrl(sessionId: string): string {
  return server.url + playlistApiPath({ streamer: 'alice', date: '2026-01-31', sessionId })
}

async function listed(sessionId: string): Promise<ListedPlaylist> {
  return vi.waitFor(() => fetchPlaylist(playlistUrl(sessionId)), soon)
}

/** The playlist, once it meets a condition. */
async function listedOnce(
  sessionId: string,
  condition: (playlist: ListedPlaylist) => boolean,
): Promise<ListedPlaylist> {
  return vi.waitFor(async () => {
    const playlist = await fetchPlaylist(playlistUrl(sessionId))
    expect(condition(playlist)).toBe(true)
    return playlist
  }, soon)
}

function joins({ segments }: ListedPlaylist): number {
  return segments.filter(({ isDiscontinuity }) => isDiscontinuity).length
}

async function framesOf({ segments }: ListedPlaylist): Promise<string[]> {
  const bytes = await Promise.all(segments.map(fetchSegment))
  return packetsOfPid(Buffer.concat(bytes), VIDEO_PID)
}

describe('a folder of parts', () => {
  it('plays in the order of names, without unplayable parts', async () => {
    const playlist = await listed('mixed')
    const { text, segments, isEnded, targetDuration } = playlist
    expect(isEnded).toBe(true)
    expect(text).toContain('#EXT-X-PLAYLIST-TYPE:VOD\n')
    expect(joins(playlist)).toBe(2)
    const versions = segments.map(({ url }) => new URL(url).pathname.split('/').at(-2))
    // The last part has the bytes of the first, which alone starts with short segments.
    expect(new Set(versions).size).toBe(3)
    const names = segments.map(({ url }) => url.slice(url.lastIndexOf('/') + 1))
    // hls.js stops at a switch from MPEG-TS to fMP4.
    expect(names.filter((name) => name.startsWith('0.'))).toEqual(['0.m4s', '0.m4s', '0.m4s'])
    for (const segment of segments) {
      expect(Math.round(segment.durationSeconds)).toBeLessThanOrEqual(targetDuration)
      expect((await fetchSegment(segment)).length).toBeGreaterThan(0)
    }
    expect(segments.at(-1)?.initUrl).toMatch(/init-0\.mp4$/)
  })

  it('has the same segments as sound only', async () => {
    const { segments } = await listed('mixed')
    const sound = await fetchPlaylist(`${playlistUrl('mixed')}?quality=audio`)
    const listOf = (list: ListedPlaylist['segments']) =>
      list.map(({ durationSeconds, isDiscontinuity }) => [durationSeconds, isDiscontinuity])
    expect(listOf(sound.segments)).toEqual(listOf(segments))
    expect(new Set(sound.segments.map(({ url }) => url.includes('/a0-')))).toEqual(new Set([true]))
    for (const segment of sound.segments)
      expect((await fetchSegment(segment)).length).toBeGreaterThan(0)
  })

  it('has the date and time of each part with one in its name', async () => {
    const { text } = await listed('mixed')
    const times = [...text.matchAll(/#EXT-X-PROGRAM-DATE-TIME:(?<time>\S+)/g)].map((match) =>
      new Date(match.groups?.time ?? '').getTime(),
    )
    expect(times.slice(0, 2)).toEqual([
      new Date(2026, 0, 31, 20, 0).getTime(),
      new Date(2026, 0, 31, 20, 30).getTime(),
    ])
    expect(times[2]).toBeGreaterThan(times[1] ?? Infinity)
  })

  it('is as long as its parts together, and has a thumbnail', async () => {
    await listed('mixed')
    await vi.waitFor(async () => {
      const answer = await fetch(server.url + sessionsApiPath('alice'))
      const sessions: unknown = await answer.json()
      expect(sessions).toContainEqual(
        expect.objectContaining({
          sessionId: 'mixed',
          duration: expect.stringMatching(/^0:02:[01]\d$/),
        }),
      )
    }, soon)
  })

  it('responds 422 with the reason if no part is playable', async () => {
    await vi.waitFor(async () => {
      const answer = await fetch(playlistUrl('broken'))
      expect(answer.status).toBe(422)
      expect(await answer.json()).toHaveProperty('error.code', 'unplayable')
    }, soon)
  })
})

describe('a growing folder', () => {
  it('is appended to, part by part, and ends once it is settled', async () => {
    const half = Math.floor(minute.length / 2 / 188) * 188
    await library.place(`${DAY}/live/part1.ts`, minute.subarray(0, half), new Date())
    const first = await listed('live')
    await appendFile(library.pathOf(`${DAY}/live/part1.ts`), minute.subarray(half))
    const longer = await listedOnce('live', ({ text }) => text !== first.text)
    // The next part begins with the same bytes. It is listed once the first part is settled.
    await library.place(`${DAY}/live/part2.ts`, minute.subarray(0, half), new Date())
    await utimes(library.pathOf(`${DAY}/live/part1.ts`), SETTLED_AT, SETTLED_AT)
    const joined = await listedOnce('live', (playlist) => joins(playlist) === 1)
    await appendFile(library.pathOf(`${DAY}/live/part2.ts`), minute.subarray(half))
    await utimes(library.pathOf(`${DAY}/live/part2.ts`), SETTLED_AT, SETTLED_AT)
    const last = await listedOnce('live', ({ isEnded }) => isEnded)
    const playlists = [first, longer, joined, last].map(({ text }) => text)
    expect(last.text).toContain('#EXT-X-PLAYLIST-TYPE:EVENT\n')
    playlists.slice(1).forEach((text, i) => {
      const before = (playlists[i] ?? '').replace('#EXT-X-ENDLIST\n', '')
      expect(text.startsWith(before)).toBe(true)
    })
    expect(playlists.slice(0, 2).some((text) => text.includes('ENDLIST'))).toBe(false)
    const frames = packetsOfPid(minute, VIDEO_PID)
    expect(await framesOf(last)).toEqual([...frames, ...frames])
  })
})
