// `npm run bench -- page-plays`: the built page in a real browser, measured by a program that may
// speak of documents.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { findProgram } from '../scripts/programs.mjs'
import { playlistApiPath } from '../shared/paths.ts'
import { fetchPlaylist } from '../test/support/servers/hls-client.ts'
import { waitUntilListed } from './endurance/listing.ts'
import type { Bench } from './harness.ts'
import { DAY, ensureLongMp4, ensureMedia } from './media.ts'
import { formatTable, median, percentile } from './table.ts'

export interface PagePlan {
  /** Path of the browser. */
  chromium: string
  /** Of a server with the sessions `hour`, and `long-1` and so on for each run. */
  url: string
  runs: number
  /** Length of the first one. */
  mediaSeconds: number
  isSmoke: boolean
}

export interface PageRow {
  name: string
  /** Milliseconds. */
  values: number[]
  target: string
}

const PROGRAM = path.resolve(import.meta.dirname, 'page/plays.ts')
/** Times that each thing is done; each opens another long session for the first time. */
const RUNS = 20

export async function benchPage(bench: Bench): Promise<string[]> {
  const chromium = findProgram('Chromium')
  if (chromium === undefined) return ['page-plays: there is no Chromium on this machine']
  const { isSmoke, mediaSeconds } = bench.options
  const runs = isSmoke ? 1 : RUNS
  const recordings = path.join(bench.scratch, 'library')
  const day = path.join(recordings, DAY.streamer, DAY.date)
  mkdirSync(day, { recursive: true })
  const { outputs } = ensureMedia(bench.options)
  const hour = outputs[0]?.path ?? ''
  linkSync(hour, path.join(day, 'hour.mp4'))
  const long = isSmoke ? hour : ensureLongMp4(bench.options)
  for (let run = 1; run <= runs; run += 1) linkSync(long, path.join(day, `long-${run}.mp4`))
  // On both processors, as the browser is.
  const server = await bench.startNode({ recordings, workers: 2 })
  await waitUntilListed(server.url, runs + 1)
  await fetchPlaylist(server.url + playlistApiPath({ ...DAY, sessionId: 'hour' }))
  const plan: PagePlan = { chromium, url: server.url, runs, mediaSeconds, isSmoke }
  const child = fork(PROGRAM, [JSON.stringify(plan)])
  let rows: PageRow[] = []
  child.on('message', (message: PageRow[]) => (rows = message))
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error('the page could not be measured')
  return formatTable(
    ['what', 'p50 ms', 'p95', 'best', 'runs', 'target'],
    ...rows.map(({ name, values, target }) => [
      name,
      ...[median(values), percentile(values, 0.95), Math.min(...values)].map((v) => v.toFixed(0)),
      String(values.length),
      target,
    ]),
  )
}
