// The outcome of every fixture: over HTTP, and of `check`.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { AV_LOG_ERROR } from 'node-av/constants'
import { FFmpegError, FormatContext, Log, Packet, avGetCodecName } from 'node-av/lib'
import { beforeAll, describe, expect, it } from 'vitest'
import { playlistApiPath } from '../shared/paths.ts'
import { createMediaReaders } from '../server/media/readers.ts'
import { formatProblem } from '../server/base/problem-text.ts'
import type { Limitation, UnplayableReason } from '../server/base/problem.ts'
import { openDiskFile } from './support/bytes-file.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const FOLDER = path.resolve(import.meta.dirname, 'fixtures/media')
const DURATION_TOLERANCE_SECONDS = 0.05
/** Codecs in EXT-X-STREAM-INF, and the names of FFmpeg's decoders for them. */
const FFMPEG_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^avc1\./, 'h264'],
  [/^hvc1\./, 'hevc'],
  [/^av01\./, 'av1'],
  [/^vp09\./, 'vp9'],
  [/^mp4a\.40\./, 'aac'],
  [/^opus$/, 'opus'],
]

type Outcome = Played | Unplayable

interface Played {
  /** Of all tracks that are served, in order (RFC 6381). */
  codecs: string[]
  seconds: number
  form: 'ts' | 'fmp4'
  playlist?: 'multivariant'
  /** Subtitle tracks. */
  subtitles?: number
  /** As `check` reports them, without their positions. */
  limitations?: Limitation[]
}

interface Unplayable {
  reason: UnplayableReason
}

const AAC = 'mp4a.40.2'

const OUTCOMES: Record<string, Outcome> = {
  'flv-h263-mp3.flv': {
    reason: { code: 'video-codec-unsupported', codec: 'Sorenson H.263' },
  },
  'flv-h264-aac.flv': { codecs: ['avc1.42c01e', AAC], seconds: 10.08, form: 'fmp4' },
  'fmp4-h264-aac-18frag.mp4': { codecs: ['avc1.640015', AAC], seconds: 15.57, form: 'fmp4' },
  'mkv-h264-2s-opus-27s-segment-unknown-size.mkv': {
    codecs: ['avc1.64002a', 'opus'],
    seconds: 27.2,
    form: 'fmp4',
  },
  'mkv-h264-aac-60s.mkv': { codecs: ['avc1.640028', AAC], seconds: 60.024, form: 'fmp4' },
  'mkv-h264-two-audio-subs-truncated.mkv': {
    codecs: ['avc1.4d401f', AAC, AAC],
    seconds: 0.381,
    form: 'fmp4',
    playlist: 'multivariant',
    subtitles: 8,
    limitations: [{ code: 'truncated', unit: 'element' }],
  },
  'mov-h264-aac-rotated90-audio-first.mov': {
    codecs: ['avc1.42001e', AAC],
    seconds: 2.09,
    form: 'fmp4',
  },
  'mp4-av1-10bit-aac-portrait.mp4': {
    codecs: ['av01.0.31M.10', AAC],
    seconds: 4.238,
    form: 'fmp4',
  },
  // Its index is complete; only a decoder detects the corrupt frames.
  'mp4-h264-aac-bitstream-corrupted.mp4': {
    codecs: ['avc1.64002a', AAC],
    seconds: 1.025,
    form: 'fmp4',
  },
  'mp4-h264-aac-editlist-video-starts-1s.mp4': {
    codecs: ['avc1.42c028', AAC],
    seconds: 10.027,
    form: 'fmp4',
  },
  'mp4-h264-aac-moov-first.mp4': { codecs: ['avc1.64001f', AAC], seconds: 5.056, form: 'fmp4' },
  'mp4-h264-aac51-moov-last-bframes.mp4': {
    codecs: ['avc1.64001e', AAC],
    seconds: 30.021,
    form: 'fmp4',
  },
  'mp4-h264-mp3.mp4': { codecs: ['avc1.64001e', AAC], seconds: 9.665, form: 'fmp4' },
  'mp4-h264-resolution-change-two-stsd.mp4': {
    codecs: ['avc1.64001f'],
    seconds: 40,
    form: 'fmp4',
  },
  'mp4-h264-two-video-two-audio-movtext.mp4': {
    codecs: ['avc1.64000c', AAC, AAC],
    seconds: 13.184,
    form: 'fmp4',
    playlist: 'multivariant',
    subtitles: 2,
    limitations: [{ code: 'video-not-served', cause: { code: 'track-limit', tracks: 1 } }],
  },
  'mp4-h264-vfr.mp4': { codecs: ['avc1.64001f'], seconds: 24.444, form: 'fmp4' },
  'mp4-hevc-hev1-aac.mp4': { codecs: ['hvc1.1.6.L63.90', AAC], seconds: 10.031, form: 'fmp4' },
  'mp4-hevc-hvc1-aac.mp4': { codecs: ['hvc1.1.6.L120.90', AAC], seconds: 1.143, form: 'fmp4' },
  'mp4-unreadable-malformed-box.mp4': {
    reason: { code: 'box-invalid', box: 'free', offsetBytes: 32, defect: 'smaller-than-header' },
  },
  'ts-ac3-51-audio-only.ts': { codecs: [AAC], seconds: 2.016, form: 'fmp4' },
  'ts-h264-aac-cea608.ts': { codecs: ['avc1.42c00d', AAC], seconds: 10.119, form: 'ts' },
  'ts-h264-aac-clean-hls-concat.ts': { codecs: ['avc1.42c00d', AAC], seconds: 36, form: 'ts' },
  'ts-h264-aac-pat-not-at-start.ts': { codecs: ['avc1.42c01f', AAC], seconds: 0.65, form: 'ts' },
  'ts-h264-aac-pts-reset-backwards.ts': {
    codecs: ['avc1.42c00d', AAC],
    seconds: 12.005,
    form: 'ts',
    limitations: [{ code: 'gap', jumpSeconds: -36 }],
  },
  'ts-h264-pts-wrap-33bit.ts': { codecs: ['avc1.64000b'], seconds: 20, form: 'ts' },
  'ts-hevc-aac51.ts': { codecs: ['hvc1.1.6.L120.90', AAC], seconds: 5.013, form: 'fmp4' },
  'ts-mpeg2-1080i-422-dts-mp2-two-audio.ts': {
    reason: { code: 'video-codec-unsupported', codec: 'MPEG-2' },
  },
  'webm-vp8-opus-mediarecorder-no-cues-no-duration-truncated.webm': {
    reason: { code: 'video-codec-unsupported', codec: 'VP8' },
  },
  'webm-vp9-odd-size-161x121.webm': { codecs: ['vp09.00.10.08'], seconds: 1.001, form: 'fmp4' },
  'webm-vp9-opus51.webm': { codecs: ['vp09.00.30.08', 'opus'], seconds: 1.02, form: 'fmp4' },
}

const names = readdirSync(FOLDER).filter((name) => !name.endsWith('.md'))
const played = Object.entries(OUTCOMES).flatMap(([name, outcome]) =>
  'reason' in outcome ? [] : [{ name, ...outcome }],
)
const unplayable = Object.entries(OUTCOMES).flatMap(([name, outcome]) =>
  'reason' in outcome ? [{ name, ...outcome }] : [],
)
const readers = createMediaReaders()
let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('outcomes')
  for (const name of names) await library.place(`alice/2026-01-31/${name}`, name)
  server = await startServer({ args: library.args })
})

it('every fixture has its expected outcome', () => {
  expect(names.toSorted()).toEqual(Object.keys(OUTCOMES).toSorted())
})

describe('playable recordings', () => {
  it.each(played)('$name: tracks, length and form', async (expected) => {
    const file = await openDiskFile(fixturePath(expected.name))
    const reader = await readers.forFile(file)
    const { tracks, subtitles = [] } = await reader.index(file, new AbortController().signal)
    await file.close()
    expect(tracks.map(({ codec }) => codec)).toEqual(expected.codecs)
    expect(subtitles).toHaveLength(expected.subtitles ?? 0)

    const url = playlistUrl(expected.name)
    const first = await (await fetch(url)).text()
    const streams = [...first.matchAll(/^#EXT-X-STREAM-INF:.*CODECS="(?<codecs>[^"]*)"/gm)]
    expect(streams.map(({ groups }) => groups?.codecs)).toEqual(
      expected.playlist === 'multivariant' ? [[...new Set(expected.codecs)].join(',')] : [],
    )
    const { segments } = await fetchPlaylist(url)
    const seconds = segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0)
    expect(Math.abs(seconds - expected.seconds)).toBeLessThan(DURATION_TOLERANCE_SECONDS)
    expect(segments.every(({ initUrl }) => initUrl !== undefined)).toBe(expected.form === 'fmp4')
  })

  it.each(played)('$name: FFmpeg reads the playlist as it reads the file', async (expected) => {
    const served = await readWithFFmpeg(playlistUrl(expected.name))
    const source = await readWithFFmpeg(fixturePath(expected.name))
    expect(served.errors.filter((error) => !source.errors.includes(error))).toEqual([])
    expect(served.packets).toBeGreaterThan(0)
    const wanted = expected.codecs.map(
      (codec) => FFMPEG_NAMES.find(([pattern]) => pattern.test(codec))?.[1] ?? '',
    )
    const found = served.codecs.filter((codec) => codec !== 'webvtt')
    expect(found.toSorted()).toEqual(wanted.toSorted())
  })
})

describe('unplayable recordings', () => {
  it.each(unplayable)('$name: 422 with the code of the reason', async ({ name, reason }) => {
    const response = await fetch(playlistUrl(name))
    expect(response.status).toBe(422)
    const { message } = formatProblem(reason)
    expect(await response.json()).toEqual({
      error: { code: 'unplayable', reason: reason.code, message },
    })
  })
})

it('check lists what is unplayable and what has limitations, and nothing else', async () => {
  const { code, stdout } = await runInProcess(
    ['check', library.recordings, '--json', '--data', path.join(library.folder, 'check')],
    { workingFolder: library.folder },
  )
  expect(code).toBe(1)
  const report: unknown = JSON.parse(stdout)
  const rows = [
    ...unplayable.map(({ name, reason }) => ({
      name,
      row: { outcome: 'unplayable', problems: [{ ...reason, ...formatProblem(reason) }] },
    })),
    ...played
      .filter(({ limitations }) => limitations !== undefined)
      .map(({ name, limitations = [] }) => ({
        name,
        row: {
          outcome: 'limited',
          problems: limitations.map((each): unknown =>
            expect.objectContaining({ ...each, ...formatProblem(each) }),
          ),
        },
      })),
  ].toSorted((one, other) => (one.name < other.name ? -1 : 1))
  expect(report).toEqual({
    playableSessions: played.length,
    missingDecoders: [
      { needs: 'HEVC', sessions: 3 },
      { needs: 'AV1', sessions: 1 },
      { needs: '10 bit', sessions: 1 },
    ],
    recordings: rows.map(({ name, row }) => ({
      path: `alice/2026-01-31/${name}`,
      streamer: 'alice',
      date: '2026-01-31',
      sessionId: sessionIdOf(name),
      ...row,
    })),
  })
})

function sessionIdOf(name: string): string {
  return name.replace(/\.\w+$/, '')
}

function playlistUrl(name: string): string {
  const session = { streamer: 'alice', date: '2026-01-31', sessionId: sessionIdOf(name) }
  return server.url + playlistApiPath(session)
}

const LAST_LINE = 'the end of the log'

/** Errors that FFmpeg logs while it reads all packets of a file or playlist, and what it found. */
async function readWithFFmpeg(
  from: string,
): Promise<{ errors: string[]; packets: number; codecs: string[] }> {
  const errors: string[] = []
  Log.setCallback((_, message) => errors.push(message.trim()), { maxLevel: AV_LOG_ERROR })
  const demuxer = new FormatContext()
  try {
    FFmpegError.throwIfError(await demuxer.openInput(from, null, null), 'openInput')
    FFmpegError.throwIfError(await demuxer.findStreamInfo(), 'findStreamInfo')
    using packet = new Packet()
    packet.alloc()
    let packets = 0
    for (; (await demuxer.readFrame(packet)) >= 0; packets += 1) packet.unref()
    const codecs = demuxer.streams.map(({ codecpar }) => avGetCodecName(codecpar.codecId) ?? '')
    // Log lines arrive through a queue: this one is the last.
    Log.log(AV_LOG_ERROR, LAST_LINE)
    await expect.poll(() => errors).toContain(LAST_LINE)
    return { errors: errors.filter((line) => line !== LAST_LINE), packets, codecs }
  } finally {
    await demuxer.closeInput()
    Log.resetCallback()
  }
}
