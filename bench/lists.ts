// Lists of very many sessions: what benchmarks request of them, and how soon a change is listed.
import { copyFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionsResponse } from '../shared/contract.ts'
import { sessionsApiPath, streamersApiPath } from '../shared/paths.ts'
import { parseShape } from '../shared/shape.ts'
import type { Shape } from '../shared/shape.ts'
import { fetchAvailable } from '../test/support/servers/hls-client.ts'
import type { StartedServer } from '../test/support/servers/start-server.ts'
import { fixturePath, SMALL_FIXTURE } from '../test/support/temp-library.ts'
import { scatter } from './cut-segments.ts'
import type { Bench } from './harness.ts'
import { readProcessSeconds } from './machine.ts'
import { median, percentile } from './table.ts'
import { streamerName } from './tree.ts'
import type { MillionSessions, TreeSize } from './tree.ts'

/** Number of streamers whose lists are requested one after another. */
const MANY_STREAMERS = 1000
export const ENCODINGS = ['identity', 'br'] as const
/** Steps through the streamers so that each change is in another list. */
const STREAMER_STEP = 7919
const CHANGES = 200
/** From one change to the next, so that they meet every moment of a node's interval. */
const EVERY_MS = 370
const POLL_MS = 25

/** Rejects if the response is an error or has another shape. */
export async function fetchShape<T>(url: string, shape: Shape<T>): Promise<T> {
  const response = await fetchAvailable(url)
  if (!response.ok) throw new Error(`${response.status} for ${url}`)
  return parseShape(shape, await response.json())
}

interface ListPlan {
  name: string
  paths: string[]
  headers: Record<string, string>
}

/** That of streamers, that of one streamer, and those of many. */
export function planLists({ options }: Bench, { streamers }: TreeSize): ListPlan[] {
  const count = Math.min(streamers, MANY_STREAMERS)
  const many = Array.from({ length: count }, (_, number) => sessionsApiPath(streamerName(number)))
  return (options.isSmoke ? ENCODINGS.slice(0, 1) : ENCODINGS).flatMap((encoding) =>
    [
      { name: 'streamers', paths: [streamersApiPath] },
      ...(options.isSmoke ? [] : [{ name: 'sessions of one', paths: many.slice(0, 1) }]),
      { name: `sessions of ${count}`, paths: scatter(many) },
    ].map(({ name, paths }) => ({
      name: `${name}, ${encoding}`,
      paths,
      headers: { 'accept-encoding': encoding },
    })),
  )
}

interface Node {
  name: string
  server: StartedServer
}

/** Head and rows of the table: how soon new recordings are listed. They are removed at the end. */
export async function measureChanges(
  bench: Bench,
  { recordings, size }: MillionSessions,
  nodes: readonly Node[],
): Promise<[head: string[], ...rows: string[][]]> {
  const count = bench.options.isSmoke ? 1 : CHANGES
  const cpuBefore = cpuSecondsOf(nodes)
  const changing: Promise<number[]>[] = []
  for (let number = 0; number < count; number += 1) {
    const streamer = streamerName((number * STREAMER_STEP) % size.streamers)
    const sessionId = `new-${process.pid}-${number}`
    const file = path.join(recordings, streamer, '2025-01-01', `${sessionId}.mp4`)
    bench.defer(() => rmSync(file, { force: true }))
    copyFileSync(fixturePath(SMALL_FIXTURE), file)
    const urls = nodes.map(({ server }) => server.url + sessionsApiPath(streamer))
    changing.push(Promise.all(urls.map(async (url) => timeUntilListed(url, sessionId))))
    if (!bench.options.isSmoke) await sleep(EVERY_MS)
  }
  const delays = await Promise.all(changing)
  const cpu = ((cpuSecondsOf(nodes) - cpuBefore) * 1000) / count
  const formatRow = (name: string, values: readonly number[]): string[] => {
    const figures = [median(values), percentile(values, 0.99), Math.max(...values), cpu]
    return [name, ...figures.map((figure) => figure.toFixed(0))]
  }
  const perNode = nodes.map(({ name }, at) =>
    formatRow(
      name,
      delays.map((each) => each[at] ?? NaN),
    ),
  )
  const worst = delays.map((each) => Math.max(...each))
  const head = [`${count} new recordings, listed by`, 'p50 ms', 'p99 ms', 'most ms', 'CPU ms']
  return [head, ...perNode, ...(nodes.length > 1 ? [formatRow('all nodes', worst)] : [])]
}

/** Milliseconds until a session is listed with its length. */
async function timeUntilListed(url: string, sessionId: string): Promise<number> {
  const startedMs = performance.now()
  for (;;) {
    const sessions = await fetchShape(url, sessionsResponse)
    const found = sessions.find((session) => session.sessionId === sessionId)
    if (found?.duration !== undefined) return performance.now() - startedMs
    await sleep(POLL_MS)
  }
}

function cpuSecondsOf(nodes: readonly Node[]): number {
  return nodes.reduce((sum, { server }) => sum + readProcessSeconds(server.pid), 0)
}
