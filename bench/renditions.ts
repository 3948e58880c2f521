// `npm run bench -- renditions`: video that is encoded on demand, by one process and its encoder on
// one processor: until the first segment is there, how fast a session is encoded, its processor
// time beside that of ffmpeg, and the latency of segments of other visitors meanwhile.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { playlistApiPath } from '../shared/paths.ts'
import { findFreePort } from '../test/support/servers/free-port.ts'
import { fetchAvailable, fetchPlaylist, fetchSegment } from '../test/support/servers/hls-client.ts'
import type { ListedSegment } from '../test/support/servers/hls-client.ts'
import { waitUntilListed } from './endurance/listing.ts'
import type { Bench } from './harness.ts'
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
/** Of the encoder (server/decode/video/open-encoder.ts). */
const MAX_KILOBITS = { '720p': 3000, '480p': 1500, '360p': 900 } as const
const X264 =
  'threads=1:lookahead-threads=1:sync-lookahead=0:cpu-independent=1:' +
  'bframes=0:keyint=infinite:scenecut=0:open-gop=0'
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
      const results: Encoding[] = []
      for (let round = 0; round < rounds; round += 1)
        results.push(await encodeSession(bench, library, { height, output }))
      const figure = (read: (result: Encoding) => number, digits = 2): string =>
        median(results.map(read)).toFixed(digits)
      rows.push([
        name,
        figure(({ firstMs }) => firstMs, 0),
        figure(({ speed }) => speed),
        figure(({ cpuSeconds }) => cpuSeconds),
        figure(({ ffmpegSeconds }) => ffmpegSeconds),
      ])
    }
  }
  const head = ['quality', 'first segment, ms', 'seconds encoded per second']
  return [
    ...formatTable([...head, 'CPU s per segment', 'of ffmpeg'], ...rows),
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

async function startEncoder(bench: Bench, recordings: string, height: string) {
  const metrics = `127.0.0.1:${await findFreePort()}`
  const environment = {
    AFTERCAST_METRICS: metrics,
    AFTERCAST_RENDITIONS_VIDEO: height,
    // Its limits of processor time are not what is measured.
    AFTERCAST_RENDITIONS_CONCURRENCY: '8',
  }
  const server = await bench.startNode({ recordings, environment })
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
  const server = await startEncoder(bench, folder, height)
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
  const server = await startEncoder(bench, folder, height)
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
