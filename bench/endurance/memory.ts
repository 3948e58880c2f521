// `npm run bench -- memory`: the memory of a server with 300 slow viewers, and the delay of its
// event loop with 100 viewers that load segments, while a recording ten times as long is added and
// indexed.
import { linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { playlistApiPath } from '../../shared/paths.ts'
import { findFreePort } from '../../test/support/servers/free-port.ts'
import { fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import { startServer } from '../../test/support/servers/start-server.ts'
import { watchOthers } from '../disturbance.ts'
import { describeMachine, readPeakMebibytes } from '../machine.ts'
import { ensureMedia } from '../make-media.ts'
import type { BenchLibrary } from '../make-media.ts'
import { DISTURBED_SHARE } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median } from '../table.ts'
import { readFigures, startViewers } from './viewers.ts'
import type { ViewersPlan } from './viewers-child.ts'

const DAY = { streamer: 'bench', date: '2026-01-31' }
const LONG_FACTOR = 10
const INDEXED_WITHIN_MS = 120_000

interface Scene {
  name: string
  /** Of 30 s and more each; see viewers-child.ts. */
  pace: Omit<ViewersPlan, 'urls'>
  protection: 'none' | 'aes-128'
}

/** `pauseMs` makes 64 KiB every half second: a viewer with 1 Mbit/s. */
const SLOW = { viewers: 300, pauseMs: 500, everyMs: 0 }
/** Players request the next segment when the duration of the last one is over. */
const PLAYERS = { viewers: 100, pauseMs: 0, everyMs: 6000 }
/** Players that fill their buffers, all at once: as much as one processor gives. */
const GREEDY = { viewers: 100, pauseMs: 0, everyMs: 0 }

const SCENES: readonly Scene[] = [
  { name: '300 slow viewers', pace: SLOW, protection: 'none' },
  { name: '300 slow viewers, aes', pace: SLOW, protection: 'aes-128' },
  { name: '100 players', pace: PLAYERS, protection: 'none' },
  { name: '100 players, aes', pace: PLAYERS, protection: 'aes-128' },
  { name: '100 greedy players', pace: GREEDY, protection: 'none' },
]

interface Sample {
  inFlight: number
  peakMebibytes: number
  /** Of the event loop, beyond the timer's own period. */
  p50: number
  p99: number
  indexSeconds: number
  failed: number
  othersShare: number
}

/** Prints the table; rejects where a viewer was refused. */
export async function benchMemory(options: BenchOptions): Promise<void> {
  const short = await ensureMedia(options, ['mp4'])
  const long = await ensureMedia(
    { ...options, mediaSeconds: options.mediaSeconds * LONG_FACTOR, pictureHeight: 360 },
    ['mp4'],
  )
  const scenes = options.isSmoke ? SCENES.slice(0, 1) : SCENES
  const samples = scenes.map((): Sample[] => [])
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [at, scene] of scenes.entries()) {
      const sample = await measure(scene, { short, long, options })
      samples[at]?.push(sample)
      console.error(`${round + 1} ${scene.name}: ${JSON.stringify(sample)}`)
    }
  }
  for (const line of report(scenes, samples, options)) console.log(line)
  if (samples.flat().some(({ failed }) => failed > 0)) throw new Error('viewers were refused')
}

interface Setting {
  short: BenchLibrary
  long: BenchLibrary
  options: BenchOptions
}

async function measure(scene: Scene, { short, long, options }: Setting): Promise<Sample> {
  const scratch = mkdtempSync(path.join(options.cache, 'memory-'))
  const day = path.join(scratch, 'library', DAY.streamer, DAY.date)
  mkdirSync(day, { recursive: true })
  linkSync(only(short), path.join(day, 'short.mp4'))
  const metrics = `127.0.0.1:${await findFreePort()}`
  const server = await startServer({
    args: [path.join(scratch, 'library'), '--data', path.join(scratch, 'data')],
    environment: {
      AFTERCAST_WORKERS: '1',
      AFTERCAST_METRICS: metrics,
      AFTERCAST_HLS_ENCRYPTION: scene.protection,
    },
  })
  const playlistOf = (sessionId: string) =>
    fetchPlaylist(server.url + playlistApiPath({ ...DAY, sessionId }))
  const stops: (() => void)[] = []
  try {
    const { segments } = await playlistOf('short')
    const urls = segments.map(({ url }) => url)
    const viewers = startViewers({ urls, ...scene.pace })
    stops.push(viewers.stop)
    await viewers.begun()
    await readFigures(metrics)
    const othersShare = watchOthers()
    const begun = performance.now()
    linkSync(only(long), path.join(day, 'long.mp4'))
    await indexed(() => playlistOf('long'))
    const indexSeconds = (performance.now() - begun) / 1000
    await sleep(options.rowSeconds * 1000)
    const delays = await readFigures(metrics)
    const peakMebibytes = readPeakMebibytes(server.pid)
    return {
      inFlight: viewers.mostInFlight(),
      failed: viewers.report().failed,
      ...delays,
      peakMebibytes,
      indexSeconds,
      othersShare: othersShare(),
    }
  } finally {
    for (const stop of stops) stop()
    await server.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

function only({ outputs }: BenchLibrary): string {
  const [output] = outputs
  if (output === undefined) throw new Error('no recording was made')
  return output.path
}

/** Waits for the playlist of a recording that was just added. */
async function indexed(ask: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + INDEXED_WITHIN_MS
  for (;;) {
    const failure = await ask().then(
      () => undefined,
      (error: unknown) => error,
    )
    if (failure === undefined) return
    if (performance.now() > end) throw failure
    await sleep(100)
  }
}

function report(
  scenes: readonly Scene[],
  samples: readonly Sample[][],
  { rounds }: BenchOptions,
): string[] {
  const head = ['scene', 'in flight', 'peak MiB', 'loop p50 ms', 'p99 ms', 'least', 'listed s', '*']
  const rows = scenes.map(({ name }, at) => {
    const list = samples[at] ?? []
    return [
      name,
      String(Math.max(...list.map(({ inFlight }) => inFlight))),
      Math.max(...list.map(({ peakMebibytes }) => peakMebibytes)).toFixed(0),
      median(list.map(({ p50 }) => p50)).toFixed(1),
      median(list.map(({ p99 }) => p99)).toFixed(1),
      Math.min(...list.map(({ p99 }) => p99)).toFixed(1),
      median(list.map(({ indexSeconds }) => indexSeconds)).toFixed(1),
      String(list.filter(({ othersShare }) => othersShare > DISTURBED_SHARE).length),
    ]
  })
  return [
    ...describeMachine([]),
    [
      `${rounds} rounds; medians, of memory the maximum. *: rounds in which others used over`,
      `${DISTURBED_SHARE * 100} % of the processors`,
    ].join(' '),
    ...formatTable([head, ...rows]),
  ]
}
