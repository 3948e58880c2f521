// How soon a new recording is listed, with its duration, by all nodes of a cluster.
import { spawnSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionsResponse } from '../../shared/contract.ts'
import { sessionsApiPath } from '../../shared/paths.ts'
import { fixturePath, SMALL_FIXTURE } from '../../test/support/temp-library.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { fetchShape } from '../endurance/fetch-shape.ts'
import { streamerName } from '../library/make-tree.ts'
import type { TreeSize } from '../library/make-tree.ts'
import { hasProgram } from '../machine.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median, percentile } from '../table.ts'

const CHANGES = 200
/** From one change to the next, so that they meet every moment of a node's interval. */
const EVERY_MS = 370
const POLL_MS = 25
const LISTED_WITHIN_MS = 60_000

export interface ClusterChangesSetting {
  /** By name. */
  nodes: Record<string, StartedServer>
  recordings: string
  size: TreeSize
  options: BenchOptions
  stops: (() => Promise<unknown>)[]
}

/** Lines of the table. The new recordings are removed at the end. */
export async function measureClusterChanges(setting: ClusterChangesSetting): Promise<string[]> {
  const { nodes, options } = setting
  const names = Object.keys(nodes)
  unpin(Object.values(nodes))
  const count = options.isSmoke ? 1 : CHANGES
  const changing: Promise<number[]>[] = []
  for (let number = 0; number < count; number += 1) {
    changing.push(addRecording(setting, number))
    await sleep(EVERY_MS)
  }
  const delays = await Promise.all(changing)
  const rows = names.map((name, at) => [name, delays.map((each) => each[at] ?? NaN)] as const)
  const all = ['all nodes', delays.map((each) => Math.max(...each))] as const
  const head = [`of ${count} changes, listed by`, 'p50 ms', 'p99 ms', 'most ms']
  return formatTable([
    head,
    ...[...rows, all].map(([name, values]) => [
      name,
      median(values).toFixed(0),
      percentile(values, 0.99).toFixed(0),
      Math.max(...values).toFixed(0),
    ]),
  ])
}

/** Nodes of a cluster have machines of their own. */
function unpin(servers: readonly StartedServer[]): void {
  if (!hasProgram('taskset')) return
  for (const { pid } of servers) spawnSync('taskset', ['-a', '-c', '-p', '0-1', String(pid)])
}

/** Milliseconds until each node lists it. */
async function addRecording(
  { nodes, recordings, size, stops }: ClusterChangesSetting,
  number: number,
): Promise<number[]> {
  const streamer = streamerName((number * 7919) % size.streamers)
  const sessionId = `new-${process.pid}-${number}`
  const file = path.join(recordings, streamer, '2025-01-01', `${sessionId}.mp4`)
  stops.push(async () => rmSync(file, { force: true }))
  const startedMs = performance.now()
  copyFileSync(fixturePath(SMALL_FIXTURE), file)
  return Promise.all(
    Object.values(nodes).map(async ({ url }) => {
      for (;;) {
        const sessions = await fetchShape(url + sessionsApiPath(streamer), sessionsResponse)
        const listed = sessions.find((session) => session.sessionId === sessionId)
        const tookMs = performance.now() - startedMs
        if (listed?.duration !== undefined) return tookMs
        if (tookMs > LISTED_WITHIN_MS) throw new Error(`${file} was not listed`)
        await sleep(POLL_MS)
      }
    }),
  )
}
