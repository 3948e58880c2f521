// Recordings of ten hours over HLS: the playlist is complete and exact, and each segment has
// exactly its packets.
import { rm, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readProcessSeconds } from '../bench/machine.ts'
import { sessionsResponse } from '../shared/contract.ts'
import { playlistApiPath, sessionsApiPath } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import type { ListedPlaylist } from './support/servers/hls-client.ts'
import { makeLongMp4 } from './support/make/make-long-mp4.ts'
import type { LongMp4 } from './support/make/make-long-mp4.ts'
import {
  FIRST_PTS,
  GOP_FRAMES,
  makeLongTs,
  VIDEO_FRAME_TICKS,
  frameHash,
  audioFrameHash,
  audioFrameTicks,
  TICKS_PER_SECOND,
} from './support/make/make-long-ts.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { packetsOf, readReferencePackets } from './support/verify/reference-packets.ts'
import type { ReferencePacket } from './support/verify/reference-packets.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath, RECORDED_AT } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const SECONDS = 10 * 3600
const DATE = '2026-01-31'
/** Of the server's processor time, far above the measured quarter of a second. */
const FIRST_PLAYLIST_SECONDS = 8
const EXTINF_TOLERANCE_SECONDS = 0.05
/** Timestamps are compared in seconds of doubles; a tick of 90 kHz is 11 µs. */
const EXACT_SECONDS = 0.0005
const SOURCE = fixturePath('mp4-h264-aac-moov-first.mp4')

let library: TempLibrary
let server: StartedServer
let made: LongMp4

beforeAll(async () => {
  library = await createTempLibrary('long')
  await library.place(`alice/${DATE}/mp4.mp4`, new Uint8Array())
  await library.place(`alice/${DATE}/ts.ts`, new Uint8Array())
  const mp4 = library.pathOf(`alice/${DATE}/mp4.mp4`)
  const ts = library.pathOf(`alice/${DATE}/ts.ts`)
  made = await makeLongMp4({ sourcePath: SOURCE, path: mp4, seconds: SECONDS })
  await makeLongTs(ts, SECONDS)
  for (const file of [mp4, ts]) await utimes(file, RECORDED_AT, RECORDED_AT)
  server = await startServer({ args: library.args })
})

async function playlistOf(sessionId: string): Promise<ListedPlaylist> {
  const session = { streamer: 'alice', date: DATE, sessionId }
  return fetchPlaylist(server.url + playlistApiPath(session))
}

/** Packets of one segment, as FFmpeg reads them, and its start time in the playlist. */
async function readSegment(playlist: ListedPlaylist, number: number) {
  const segment = playlist.segments.at(number)
  if (segment === undefined) throw new Error(`there is no segment ${number}`)
  const file = path.join(
    library.folder,
    `${number}.${segment.initUrl === undefined ? 'ts' : 'mp4'}`,
  )
  await writeFile(file, await fetchSegment(segment))
  const packets = await readReferencePackets(file)
  await rm(file)
  const before = playlist.segments.slice(0, number)
  return {
    startSeconds: before.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0),
    durationSeconds: segment.durationSeconds,
    frames: packets.filter(({ kind }) => kind === 'video'),
    audioTracks: packets.filter(({ kind }) => kind === 'audio'),
  }
}

function totalSeconds({ segments }: ListedPlaylist): number {
  return segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0)
}

/** Segments at the start, in the middle and at the end. */
const chosen = ['start', 'second', 'middle', 'last but one', 'end'] as const

function numberOf(place: (typeof chosen)[number], { segments }: ListedPlaylist): number {
  const count = segments.length
  const places = {
    start: 0,
    second: 1,
    middle: count >> 1,
    'last but one': count - 2,
    end: count - 1,
  }
  return places[place]
}

describe.each(['mp4', 'ts'])('ten hours of %s', (id) => {
  it('have a complete playlist at little cost', async () => {
    const before = readProcessSeconds(server.pid)
    const playlist = await playlistOf(id)
    expect(readProcessSeconds(server.pid) - before).toBeLessThan(FIRST_PLAYLIST_SECONDS)
    expect(playlist.isEnded).toBe(true)
    expect(playlist.segments.length).toBeGreaterThan(SECONDS / 8)
    expect(Math.abs(totalSeconds(playlist) - SECONDS)).toBeLessThan(0.3)
    for (const { durationSeconds } of playlist.segments)
      expect(Math.round(durationSeconds)).toBeLessThanOrEqual(playlist.targetDuration)
    expect(playlist.targetDuration).toBeLessThanOrEqual(10)
  })

  it('are listed with their true length', async () => {
    const lengthOf = async (): Promise<string | undefined> => {
      const answer = await fetch(server.url + sessionsApiPath('alice'))
      const sessions = parseExactly(sessionsResponse, await answer.json())
      return sessions.find(({ sessionId }) => sessionId === id)?.duration
    }
    await expect.poll(lengthOf).toBe('10:00:00')
  })

  it.each(chosen)(
    'begin with a key frame at the %s, at the time of the playlist',
    async (place) => {
      const playlist = await playlistOf(id)
      const number = numberOf(place, playlist)
      const segment = await readSegment(playlist, number)
      const first = await readSegment(playlist, 0)
      const [frame] = segment.frames
      expect(frame?.isKey).toBe(true)
      const distance = wrapped((frame?.ptsSeconds ?? NaN) - (first.frames[0]?.ptsSeconds ?? NaN))
      // the first segment may begin with an audio packet
      const leadSeconds = number === 0 ? 0 : EXTINF_TOLERANCE_SECONDS
      expect(Math.abs(distance - segment.startSeconds)).toBeLessThanOrEqual(leadSeconds)
    },
  )
})

/** Timestamps of MPEG-TS wrap after 2^33 ticks. */
function wrapped(seconds: number): number {
  const turn = 2 ** 33 / TICKS_PER_SECOND
  return seconds < -1 ? seconds + turn : seconds
}

describe('ten hours of mp4', () => {
  it.each(chosen)('have their own packets at their own times: %s', async (place) => {
    const playlist = await playlistOf('mp4')
    const gop = made.gopPresentationTicks
    const expectedSeconds = (index: number): number => {
      const ticks =
        (index - (index % gop.length)) * made.frameTicks + (gop[index % gop.length] ?? NaN)
      // one audio packet is before the start of the edit list, and frames are that much later
      return (ticks + (1024 * 30_000) / 48_000) / 30_000
    }
    const first = await readSegment(playlist, 0)
    const shift = (first.frames[0]?.ptsSeconds ?? NaN) - expectedSeconds(0)
    const { frames, audioTracks, startSeconds } = await readSegment(
      playlist,
      numberOf(place, playlist),
    )
    const gopSeconds = (gop.length * made.frameTicks) / 30_000
    const firstVideoFrame = Math.round(startSeconds / gopSeconds) * gop.length
    const gops = place === 'start' ? 1 : 2
    expect(frames.length).toBe(Math.min(gops * gop.length, made.videoCount - firstVideoFrame))
    for (const [at, frame] of frames.entries())
      expectAt(frame, expectedSeconds(firstVideoFrame + at) + shift)

    const source = await readReferencePackets(SOURCE)
    const frameHashes = packetsOf(source, 0).map(({ sha1 }) => sha1)
    expect(frames.map(({ sha1 }) => sha1)).toEqual(
      frames.map((_, at) => frameHashes[at % gop.length]),
    )
    const audioHashes = packetsOf(source, 1).map(({ sha1 }) => sha1)
    const firstAudio = Math.round((((audioTracks[0]?.ptsSeconds ?? NaN) - shift) * 48_000) / 1024)
    expect(audioTracks.map(({ sha1 }) => sha1)).toEqual(
      audioTracks.map((_, at) => audioHashes[(firstAudio + at) % made.audioLoop]),
    )
    for (const [at, audio] of audioTracks.entries())
      expectAt(audio, ((firstAudio + at) * 1024) / 48_000 + shift)
  })

  it('end with the last packets of both tracks', async () => {
    const playlist = await playlistOf('mp4')
    const count = playlist.segments.length
    const first = await readSegment(playlist, 0)
    const ends = [await readSegment(playlist, count - 2), await readSegment(playlist, count - 1)]
    const lastAudio = ends.flatMap(({ audioTracks }) => audioTracks).at(-1)?.ptsSeconds ?? NaN
    const audioSeconds = lastAudio - (first.audioTracks[0]?.ptsSeconds ?? NaN)
    expect(Math.round((audioSeconds * 48_000) / 1024)).toBe(made.audioCount - 1)
    const lastFrame = ends.flatMap(({ frames }) => frames).at(-1)?.dtsSeconds ?? NaN
    // the first frames are decoded closer together, as no time of a fragment may be negative
    const second = await readSegment(playlist, 1)
    const frameSeconds = lastFrame - (second.frames[0]?.dtsSeconds ?? NaN)
    expect(Math.round((frameSeconds * 30_000) / made.frameTicks)).toBe(
      made.videoCount - 1 - first.frames.length,
    )
  })
})

function expectAt({ ptsSeconds }: ReferencePacket, seconds: number): void {
  expect(Math.abs(ptsSeconds - seconds)).toBeLessThan(EXACT_SECONDS)
}

describe('ten hours of ts', () => {
  /** Ticks after the first frame, timestamps unwrapped. */
  function ticksOf({ ptsSeconds }: ReferencePacket): number {
    const ticks = Math.round(ptsSeconds * TICKS_PER_SECOND) - FIRST_PTS
    return ((ticks % 2 ** 33) + 2 ** 33) % 2 ** 33
  }

  it.each(chosen)('have their own packets at their own times: %s', async (place) => {
    const playlist = await playlistOf('ts')
    const segment = await readSegment(playlist, numberOf(place, playlist))
    const firstVideoFrame = Math.round(
      (segment.startSeconds * TICKS_PER_SECOND) / VIDEO_FRAME_TICKS,
    )
    // audio may outlast the last frame
    const count = Math.min(
      Math.round((segment.durationSeconds * TICKS_PER_SECOND) / VIDEO_FRAME_TICKS),
      (SECONDS * TICKS_PER_SECOND) / VIDEO_FRAME_TICKS - firstVideoFrame,
    )
    expect(firstVideoFrame % GOP_FRAMES).toBe(0)
    const numbers = Array.from({ length: count }, (_, at) => firstVideoFrame + at)
    expect(segment.frames.map(ticksOf)).toEqual(numbers.map((number) => number * VIDEO_FRAME_TICKS))
    expect(segment.frames.map(({ sha1 }) => sha1)).toEqual(numbers.map(frameHash))

    const [firstAudio] = segment.audioTracks
    const firstFrame = Math.round((firstAudio ? ticksOf(firstAudio) : NaN) / audioFrameTicks(1))
    const frames = segment.audioTracks.map((_, at) => firstFrame + at)
    expect(frames.length).toBeGreaterThan(40)
    expect(segment.audioTracks.map(({ sha1 }) => sha1)).toEqual(frames.map(audioFrameHash))
    // a PES packet has about a second of audio, and a timestamp only for its first frame
    const stamped = segment.audioTracks.flatMap((audio, at) =>
      Number.isNaN(audio.ptsSeconds) ? [] : { at, ticks: ticksOf(audio) },
    )
    expect(stamped.length).toBeGreaterThan(0)
    expect(stamped).toEqual(
      stamped.map(({ at }) => ({ at, ticks: audioFrameTicks(firstFrame + at) })),
    )
    const distance = audioFrameTicks(firstFrame) - firstVideoFrame * VIDEO_FRAME_TICKS
    expect(Math.abs(distance)).toBeLessThan(1.1 * TICKS_PER_SECOND)
  })
})
