// `npm run bench -- renditions`: video that is encoded on demand, by one process and its encoder on
// one processor: until the first segment is there, also after a seek and beside what Jellyfin runs,
// how fast a session is encoded, its processor time beside that of ffmpeg; and on all processors,
// the latency of segments of other visitors meanwhile.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { playlistApiPath } from '../shared/paths.ts'
import { findFreePort } from '../test/support/servers/free-port.ts'
import { fetchAvailable, fetchPlaylist, fetchSegment } from '../test/support/servers/hls-client.ts'
import type { ListedSegment } from '../test/support/servers/hls-client.ts'
import { waitUntilListed } from './endurance/listing.ts'
import type { Bench, NodePlan } from './harness.ts'
import { ensureMedia, sessionOf } from './media.ts'
import type { BenchLibrary, MediaOutput } from './media.ts'
import { formatTable, median, percentile } from './table.ts'

/** Heights below that of the recording. */
const HEIGHTS = { 1080: ['720p', '480p', '360p'], 360: ['360p'] } as const
const FORMATS = ['mp4', 'ts'] as const
/** The fixture in MPEG-TS has no smaller height. */
const SMOKE_FORMATS = ['mp4'] as const
/** Segments whose encoding is measured: a minute and a half. */
const MAX_SEGMENTS = 15
/** Segments from the start to the first seek, and between two: more than are encoded ahead. */
const SEEK_DISTANCE = 5
/** Of the encoder (server/decode/video/open-encoder.ts). */
const MAX_KILOBITS = { '720p': 3000, '480p': 1500, '360p': 900 } as const
const X264 =
  'threads=1:lookahead-threads=1:sync-lookahead=0:cpu-independent=1:' +
  'bframes=0:keyint=infinite:scenecut=0:open-gop=0'
const JELLYFIN_POLL_MS = 5
/** Pause between two requests of a visitor. */
const PAUSE_MS = 50

type HeightName = keyof typeof MAX_KILOBITS

export async function benchRenditions(bench: Bench): Promise<string[]> {
  const { rounds, pictureHeight, isSmoke, rows: wanted } = bench.options
  const library = ensureMedia(bench.options, isSmoke ? SMOKE_FORMATS : FORMATS)
  const rows: string[][] = []
  for (const height of HEIGHTS[pictureHeight]) {
    for (const output of library.outputs) {
      const name = `${height}, ${output.format}`
      if (!name.includes(wanted)) continue
      const results: (Encoding & Seek)[] = []
      for (let round = 0; round < rounds; round += 1) {
        const encoding = await encodeSession(bench, library, { height, output })
        const seek = await seekInSession(bench, library, { height, output, round })
        results.push({ ...encoding, ...seek })
      }
      const figure = (read: (result: Encoding & Seek) => number, digits = 2): string =>
        median(results.map(read)).toFixed(digits)
      rows.push([
        name,
        figure(({ firstMs }) => firstMs, 0),
        figure(({ seekMs }) => seekMs, 0),
        figure(({ jellyfinMs }) => jellyfinMs, 0),
        figure(({ speed }) => speed),
        figure(({ cpuSeconds }) => cpuSeconds),
        figure(({ ffmpegSeconds }) => ffmpegSeconds),
      ])
    }
  }
  const first = ['first segment, ms', 'after a seek', 'of Jellyfin']
  const speed = ['seconds encoded per second', 'CPU s per segment', 'of ffmpeg']
  return [
    ...formatTable(['quality', ...first, ...speed], ...rows),
    ...(await besideEncodes(bench, library)),
  ]
}

interface Encoding {
  firstMs: number
  speed: number
  /** Of the encoder, per segment. */
  cpuSeconds: number
  /** Of ffmpeg, per segment; NaN where it is missing. */
  ffmpegSeconds: number
}

/** Milliseconds until the first segment after a seek, and until Jellyfin's ffmpeg has it. */
interface Seek {
  seekMs: number
  /** NaN where ffmpeg is missing. */
  jellyfinMs: number
}

interface EncoderPlan extends Pick<NodePlan, 'processor'> {
  height: HeightName
  concurrency?: number
}

async function startEncoder(
  bench: Bench,
  recordings: string,
  { height, concurrency = 8, processor }: EncoderPlan,
) {
  const metrics = `127.0.0.1:${await findFreePort()}`
  const environment = {
    AFTERCAST_METRICS: metrics,
    AFTERCAST_RENDITIONS_VIDEO: height,
    // By default, its limits of processor time are not what is measured.
    AFTERCAST_RENDITIONS_CONCURRENCY: String(concurrency),
  }
  const server = await bench.startNode({ recordings, environment, ...(processor && { processor }) })
  await waitUntilListed(server.url, 1)
  const figure = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://${metrics}/metrics`)).text()
    return Number(new RegExp(`^${name} (?<value>\\S+)$`, 'm').exec(text)?.groups?.value)
  }
  return { ...server, figure }
}

/** With an empty cache, and without an encoder process that waits. */
async function encodeSession(
  bench: Bench,
  { folder }: BenchLibrary,
  { height, output }: { height: HeightName; output: MediaOutput },
): Promise<Encoding> {
  const server = await startEncoder(bench, folder, { height })
  const url = `${server.url}${playlistApiPath(sessionOf(output.format))}?quality=${height}`
  const startMs = performance.now()
  const { segments } = await fetchPlaylist(url)
  const [first, ...rest] = segments.slice(0, MAX_SEGMENTS)
  if (first === undefined) throw new Error('the rendition has no segments')
  await fetchSegment(first)
  const firstMs = performance.now() - startMs
  for (const segment of rest) await fetchSegment(segment)
  const seconds = [first, ...rest].reduce((sum, each) => sum + each.durationSeconds, 0)
  const speed = (seconds * 1000) / (performance.now() - startMs)
  const cpuSeconds = await server.figure('aftercast_encode_cpu_seconds_total')
  // One job is the format.
  const encoded = (await server.figure('aftercast_encodes_total')) - 1
  await server.stop()
  const ffmpegSeconds = encodeByFfmpeg(bench, [first, ...rest], { height, output })
  return { firstMs, speed, cpuSeconds: cpuSeconds / encoded, ffmpegSeconds }
}

/** While segments after the start are encoded ahead, as on a node with one processor for it. */
async function seekInSession(
  bench: Bench,
  { folder }: BenchLibrary,
  { height, output, round }: { height: HeightName; output: MediaOutput; round: number },
): Promise<Seek> {
  // Its recording is too short.
  if (bench.options.isSmoke) return { seekMs: NaN, jellyfinMs: NaN }
  const server = await startEncoder(bench, folder, { height, concurrency: 1 })
  const url = `${server.url}${playlistApiPath(sessionOf(output.format))}?quality=${height}`
  const { segments } = await fetchPlaylist(url)
  const at = SEEK_DISTANCE * (round + 1)
  const [start, target] = [segments[0], segments[at]]
  if (start === undefined || target === undefined) throw new Error('the rendition is too short')
  await fetchSegment(start)
  const startMs = performance.now()
  await fetchSegment(target)
  const seekMs = performance.now() - startMs
  await server.stop()
  const before = segments.slice(0, at).reduce((sum, each) => sum + each.durationSeconds, 0)
  return { seekMs, jellyfinMs: await seekByJellyfin(bench, before, { height, output }) }
}

/**
 * Milliseconds until Jellyfin has the first segment: its ffmpeg has begun the next one, or has
 * ended. The options are those of Jellyfin 10.11 for libx264 without hardware.
 */
async function seekByJellyfin(
  bench: Bench,
  startSeconds: number,
  { height, output }: { height: HeightName; output: MediaOutput },
): Promise<number> {
  const { ffmpeg } = bench.options
  if (!existsSync(ffmpeg)) return NaN
  const folder = mkdtempSync(path.join(bench.scratch, 'jellyfin-'))
  const kilobits = MAX_KILOBITS[height]
  const input = ['-analyzeduration', '200M', '-probesize', '1G', '-ss', `${startSeconds}`]
  const read = [...input, '-noaccurate_seek', '-i', output.path, '-threads', '0']
  const rate = ['-crf', '23', '-maxrate', `${kilobits}k`, '-bufsize', `${2 * kilobits}k`]
  const x264 = 'subme=0:me_range=16:rc_lookahead=10:me=hex:open_gop=0'
  const keys = ['-force_key_frames', 'expr:gte(t,n_forced*6)', '-sc_threshold', '0']
  const codec = ['-c:v', 'libx264', '-preset', 'veryfast', ...rate, '-x264opts', x264, ...keys]
  const scale = ['-vf', `scale=-2:${parseInt(height, 10)},format=yuv420p`]
  const times = ['-c:a', 'copy', '-copyts', '-avoid_negative_ts', 'disabled']
  const hls = ['-f', 'hls', '-hls_time', '6', '-hls_playlist_type', 'vod', '-hls_list_size', '0']
  const files = ['-hls_segment_filename', path.join(folder, '%d.ts'), path.join(folder, 'a.m3u8')]
  const words = [...bench.pin(0), ffmpeg, '-nostdin', ...read, ...codec, ...scale, ...times]
  const [program = '', ...args] = [...words, ...hls, ...files]
  const startMs = performance.now()
  const child = spawn(program, args, { stdio: 'ignore' })
  const exited = once(child, 'exit')
  try {
    const isReady = (): boolean => existsSync(path.join(folder, '1.ts')) || child.exitCode !== null
    while (!isReady()) await sleep(JELLYFIN_POLL_MS)
    if (!existsSync(path.join(folder, '0.ts'))) throw new Error('ffmpeg has written no segment')
    return performance.now() - startMs
  } finally {
    child.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true })
  }
}

/** Processor time per segment of the same video with the same settings, without audio. */
function encodeByFfmpeg(
  bench: Bench,
  segments: readonly ListedSegment[],
  { height, output }: { height: HeightName; output: MediaOutput },
): number {
  const { ffmpeg } = bench.options
  if (!existsSync(ffmpeg)) return NaN
  const kilobits = MAX_KILOBITS[height]
  const scale = `scale=-2:${parseInt(height, 10)}:flags=bilinear+accurate_rnd+bitexact`
  const rate = ['-maxrate', `${kilobits}k`, '-bufsize', `${2 * kilobits}k`]
  const codec = ['-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'high', '-level', '4']
  const encode = ['-an', '-vf', scale, ...codec, '-crf', '24', ...rate, '-x264-params', X264]
  let startSeconds = 0
  let cpuSeconds = 0
  for (const { durationSeconds } of segments) {
    const input = ['-threads', '2', '-ss', `${startSeconds}`, '-t', `${durationSeconds}`]
    const read = [...input, '-i', output.path]
    const words = [...bench.pin(0), ffmpeg, '-nostdin', '-benchmark', ...read, ...encode]
    const [program, ...args] = [...words, '-f', 'null', '-']
    const { stderr, status } = spawnSync(program, args, { encoding: 'utf8' })
    const used = /bench: utime=(?<user>[\d.]+)s stime=(?<system>[\d.]+)s/.exec(stderr)?.groups
    if (status !== 0 || used === undefined) throw new Error(`ffmpeg failed: ${stderr}`)
    cpuSeconds += Number(used.user) + Number(used.system)
    startSeconds += durationSeconds
  }
  return cpuSeconds / segments.length
}

/** A visitor requests segments as they were recorded; another one plays a rendition meanwhile. */
async function besideEncodes(bench: Bench, { folder }: BenchLibrary): Promise<string[]> {
  const height = HEIGHTS[bench.options.pictureHeight].at(-1) ?? '360p'
  const server = await startEncoder(bench, folder, { height, processor: 'any' })
  const url = `${server.url}${playlistApiPath(sessionOf('mp4'))}`
  const { segments: plain } = await fetchPlaylist(url)
  const { segments: encoded } = await fetchPlaylist(`${url}?quality=${height}`)
  for (const segment of plain) await fetchSegment(segment)
  const alone = await measureLatency(bench, plain)
  const stopping = new AbortController()
  const playing = play(encoded, stopping.signal)
  const beside = await measureLatency(bench, plain)
  stopping.abort()
  await playing
  await server.stop()
  return formatTable(
    ['recorded segments, latency in ms', 'p50', 'p99'],
    ['nothing is encoded', ...alone],
    [`${height} is encoded`, ...beside],
  )
}

async function play(segments: readonly ListedSegment[], signal: AbortSignal): Promise<void> {
  for (const segment of segments) if (!signal.aborted) await fetchSegment(segment)
}

async function measureLatency(
  { options }: Bench,
  segments: readonly ListedSegment[],
): Promise<[p50: string, p99: string]> {
  const latencies: number[] = []
  const endMs = performance.now() + options.rowSeconds * 4000
  do {
    const startMs = performance.now()
    const response = await fetchAvailable(segments[latencies.length % segments.length]?.url ?? '')
    await response.arrayBuffer()
    latencies.push(performance.now() - startMs)
    await sleep(PAUSE_MS)
  } while (performance.now() < endMs)
  return [median(latencies).toFixed(1), percentile(latencies, 0.99).toFixed(1)]
}
