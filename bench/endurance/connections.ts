// `npm run bench -- connections`: the latency of the API while very many clients are connected that
// send nothing, send slowly, read slowly or pipeline, and when their connections are gone.
import { fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { playlistApiPath, streamersApiPath, thumbnailApiPath } from '../../shared/paths.ts'
import { fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import { makeLargeRecording } from '../../test/support/make/make-large-recording.ts'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import type { ConnectionsPlan, ConnectionsReport } from './connections-child.ts'
import { watchOthers } from '../disturbance.ts'
import { describeMachine, readMebibytes, readPeakMebibytes } from '../machine.ts'
import { DISTURBED_SHARE } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable } from '../table.ts'

const CHILD = path.resolve(import.meta.dirname, 'connections-child.ts')
const SESSION = { streamer: 'bench', date: '2026-01-31', sessionId: 'large' }
const POSTER_BYTES = 10 * 1024 * 1024
/** Time in which the API is measured while the clients are there. */
const MEASURED_MS = 8000
/** The longest time limit for clients is 75 s. */
const GONE_WITHIN_MS = 100_000
/** Descriptors that this program and the caches of the server may add. */
const OWN_CONNECTIONS = 8

interface Scene {
  name: string
  clients: (paths: Paths) => Omit<ConnectionsPlan, 'port'>
  /** Whether the server ends the connections. */
  isEnded: boolean
}

interface Paths {
  segment: string
  poster: string
}

const SCENES: readonly Scene[] = [
  {
    name: '10,000 idle connections',
    clients: () => ({ connections: 10_000, requests: [''] }),
    isEnded: true,
  },
  {
    name: '500 slow heads',
    clients: () => ({ connections: 500, requests: ['GET / HTTP/1.1\r\n'], trickle: 'A: b\r\n' }),
    isEnded: true,
  },
  {
    name: '500 readers of nothing',
    clients: ({ segment, poster }) => ({ connections: 500, requests: [get(segment), get(poster)] }),
    isEnded: true,
  },
  {
    name: '1,000 slow viewers',
    clients: ({ segment }) => ({
      connections: 1000,
      requests: [get(segment)],
      readBytes: 64 * 1024,
    }),
    isEnded: false,
  },
  {
    name: '40 × 500 pipelined',
    clients: ({ segment }) => ({ connections: 40, requests: [get(segment).repeat(500)] }),
    isEnded: true,
  },
]

interface Sample {
  p50: number
  p99: number
  worst: number
  /** Most descriptors of the server. */
  descriptors: number
  mebibytesBefore: number
  peakMebibytes: number
  /** From the last connection on; undefined while some are left. */
  goneSeconds: number | undefined
  descriptorsLeft: number
  mebibytesAfter: number
  othersShare: number
}

/** Prints the table. */
export async function benchConnections(options: BenchOptions): Promise<void> {
  mkdirSync(options.cache, { recursive: true })
  const scratch = mkdtempSync(path.join(options.cache, 'connections-'))
  try {
    makeLibrary(path.join(scratch, 'library', SESSION.streamer, SESSION.date))
    const rows: string[][] = []
    for (const scene of options.isSmoke ? SCENES.slice(2, 3) : SCENES) {
      const sample = await measure(scene, scratch, options)
      console.error(`${scene.name}: ${JSON.stringify(sample)}`)
      rows.push([scene.name, ...format(sample)])
    }
    for (const line of report(rows)) console.log(line)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function makeLibrary(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const recording = path.join(folder, 'large.ts')
  writeFileSync(recording, makeLargeRecording())
  // A recording that was written recently may still grow.
  utimesSync(recording, 1, 1)
  const poster = Buffer.alloc(POSTER_BYTES, 7)
  poster.set([0xff, 0xd8, 0xff, 0xe0])
  writeFileSync(path.join(folder, 'large.jpg'), poster)
}

async function measure(scene: Scene, scratch: string, options: BenchOptions): Promise<Sample> {
  const server = await startServer({
    args: [path.join(scratch, 'library'), '--data', path.join(scratch, 'data')],
    environment: { AFTERCAST_WORKERS: '1', AFTERCAST_HLS_ENCRYPTION: 'none' },
  })
  try {
    const { segments } = await fetchPlaylist(server.url + playlistApiPath(SESSION))
    const segment = new URL(segments[0]?.url ?? '').pathname
    const clients = scene.clients({ segment, poster: thumbnailApiPath(SESSION) })
    const connections = options.isSmoke ? Math.min(clients.connections, 10) : clients.connections
    return await measureClients(
      server,
      { ...clients, connections },
      {
        measuredMs: options.isSmoke ? 200 : MEASURED_MS,
        goneWithinMs: options.isSmoke || !scene.isEnded ? 0 : GONE_WITHIN_MS,
      },
    )
  } finally {
    await server.stop()
  }
}

async function measureClients(
  { url, pid }: StartedServer,
  clients: Omit<ConnectionsPlan, 'port'>,
  { measuredMs, goneWithinMs }: { measuredMs: number; goneWithinMs: number },
): Promise<Sample> {
  await measureApi(url, measuredMs / 4)
  const before = countDescriptors(pid)
  const mebibytesBefore = readMebibytes(pid)
  const child = fork(CHILD)
  let opened = 0
  let descriptors = 0
  child.on('message', (report: ConnectionsReport) => {
    opened = report.opened
    descriptors = Math.max(descriptors, countDescriptors(pid))
  })
  try {
    const othersShare = watchOthers()
    child.send({ ...clients, port: Number(new URL(url).port) } satisfies ConnectionsPlan)
    while (opened < clients.connections) await once(child, 'message')
    const openedMs = performance.now()
    const latency = await measureApi(url, measuredMs)
    const measured = { ...latency, othersShare: othersShare() }
    const isGone = (): boolean => countDescriptors(pid) <= before + OWN_CONNECTIONS
    while (!isGone() && performance.now() - openedMs < goneWithinMs) await sleep(250)
    const goneSeconds = isGone() ? (performance.now() - openedMs) / 1000 : undefined
    return {
      ...measured,
      descriptors,
      mebibytesBefore,
      peakMebibytes: readPeakMebibytes(pid),
      goneSeconds,
      descriptorsLeft: countDescriptors(pid) - before,
      mebibytesAfter: readMebibytes(pid),
    }
  } finally {
    child.disconnect()
  }
}

/** Times of single requests, one after another, in milliseconds. */
async function measureApi(url: string, durationMs: number) {
  const times: number[] = []
  for (const endMs = performance.now() + durationMs; performance.now() < endMs;) {
    const startedMs = performance.now()
    await (await fetch(url + streamersApiPath)).arrayBuffer()
    times.push(performance.now() - startedMs)
    await sleep(2)
  }
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? NaN
  return { p50: at(0.5), p99: at(0.99), worst: at(1) }
}

function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

function get(target: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: bench\r\n\r\n`
}

function report(rows: readonly string[][]): string[] {
  const head = ['clients', 'API p50 ms', 'p99 ms', 'worst', 'descriptors', 'MiB before', 'peak']
  const table = [[...head, 'after', 'gone after s', 'descriptors left', '*'], ...rows]
  return [...describeMachine([]), '', ...formatTable(table), '', '* disturbed by other programs']
}

function format(sample: Sample): string[] {
  const { p50, p99, worst, goneSeconds, othersShare } = sample
  return [
    ...[p50, p99, worst].map((ms) => ms.toFixed(1)),
    String(sample.descriptors),
    sample.mebibytesBefore.toFixed(0),
    sample.peakMebibytes.toFixed(0),
    sample.mebibytesAfter.toFixed(0),
    goneSeconds?.toFixed(0) ?? '-',
    String(sample.descriptorsLeft),
    othersShare > DISTURBED_SHARE ? '*' : '',
  ]
}
