// `npm run bench -- releases --older DIR`: scans, lists and segments of this release and an older
// one, alternately.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { sessionsApiPath, streamersApiPath } from '../../shared/paths.ts'
import { fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { startNode } from '../cluster/node.ts'
import { writeRecordings } from '../endurance/kill-library.ts'
import { describeMachine, readEndedChildrenSeconds } from '../machine.ts'
import { ALL_FORMATS, ensureMedia } from '../make-media.ts'
import { measureRound } from '../measure.ts'
import type { Row } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { createPin } from '../pin.ts'
import { formatTable, median } from '../table.ts'
import { scatter } from './cut-segments.ts'

const SMALL_RECORDINGS = 1000
const STREAMER = 's0'
const SCAN = 'first scan'
const THIS_RELEASE = path.resolve(import.meta.dirname, '../..')
const FORMATS = ['mp4', 'ts', 'mkv', 'flv'] as const

/** The older release, then this one. */
type Pair<Item> = [older: Item, current: Item]

interface Comparison {
  name: string
  unit: string
  /** CPU time of each round. */
  rounds: Pair<number>[]
}

interface Setting {
  options: BenchOptions
  checkouts: Pair<string>
  scratch: string
  /** Library of small recordings. */
  small: string
}

/** Prints the table: the medians of CPU time, and of the ratios of all rounds. */
export async function benchReleases(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const scratch = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-releases-'))
  const small = path.join(scratch, 'small')
  const stops: (() => Promise<unknown>)[] = []
  try {
    writeRecordings(small, options.isSmoke ? 10 : SMALL_RECORDINGS)
    const setting: Setting = { options, checkouts: [options.older, THIS_RELEASE], scratch, small }
    const comparisons = SCAN.includes(options.rows) ? [await measureScans(setting)] : []
    for (const [older, current] of await prepareRows(setting, stops)) {
      const isChosen = current.name.includes(options.rows)
      if (isChosen) comparisons.push(await measureRows([older, current], setting))
    }
    const head = ['CPU time', 'older', 'this', 'ratio', 'unit']
    const table = formatTable([head, ...comparisons.map(formatComparison)])
    for (const line of [...describeMachine(['wrk']), '', ...table]) console.log(line)
  } finally {
    for (const stop of stops.toReversed()) await stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** First scans of the small recordings. */
async function measureScans({ options, checkouts, scratch, small }: Setting): Promise<Comparison> {
  const data = path.join(scratch, 'scan')
  const rounds = await inTurns(options.rounds, async (at) => {
    rmSync(data, { recursive: true, force: true })
    const before = readEndedChildrenSeconds()
    const args = [path.join(checkouts[at], 'server/main.ts'), 'scan', small, '--data', data]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`the scan failed: ${stderr}`)
    return readEndedChildrenSeconds() - before
  })
  return { name: SCAN, unit: 's', rounds }
}

async function measureRows(
  rows: Pair<Row>,
  { options, scratch }: Pick<Setting, 'options' | 'scratch'>,
): Promise<Comparison> {
  const rounds = await inTurns(options.rounds, async (at, round) => {
    const plan = { round, seconds: options.rowSeconds, wrapper: createPin()(1), scratch }
    const samples = await measureRound(rows[at], plan, options)
    return samples.at(-1)?.cpuMicrosecondsPerRequest ?? NaN
  })
  return { name: rows[1].name, unit: 'µs per request', rounds }
}

/** Both releases in each round; which one is first changes. */
async function inTurns(
  count: number,
  measure: (at: 0 | 1, round: number) => Promise<number>,
): Promise<Pair<number>[]> {
  const rounds: Pair<number>[] = []
  for (let round = 0; round < count; round += 1) {
    const first = round % 2 === 0 ? 0 : 1
    const one = await measure(first, round)
    const other = await measure(first === 0 ? 1 : 0, round)
    rounds.push(first === 0 ? [one, other] : [other, one])
  }
  return rounds
}

/** Starts the servers, and lists what is requested from them. */
async function prepareRows(
  setting: Setting,
  stops: (() => Promise<unknown>)[],
): Promise<Pair<Row>[]> {
  const media = await ensureMedia(setting.options, ALL_FORMATS)
  const start = async (name: string, recordings: string, encryption = 'none') => {
    const servers = await startBoth(setting, { name, recordings, encryption })
    stops.push(...servers.map((server) => async () => server.stop()))
    return servers
  }
  const lists = await start('lists', setting.small)
  const plain = await start('plain', media.folder)
  const encrypted = await start('aes', media.folder, 'aes-128')
  return Promise.all([
    rowsOf('list of streamers', lists, async () => [streamersApiPath]),
    rowsOf('list of sessions', lists, async () => [sessionsApiPath(STREAMER)]),
    ...FORMATS.map(async (format) =>
      rowsOf(`segments, ${format}`, plain, async (url) =>
        listSegments(url, media.sessions[format]),
      ),
    ),
    rowsOf('segments, ts, AES-128', encrypted, async (url) => listSegments(url, media.sessions.ts)),
  ])
}

interface ServerPlan {
  name: string
  recordings: string
  encryption: string
}

async function startBoth(
  { checkouts, scratch }: Setting,
  { name, recordings, encryption }: ServerPlan,
): Promise<Pair<StartedServer>> {
  const start = async (at: 0 | 1): Promise<StartedServer> =>
    startNode({
      name: `${name}-${at}`,
      scratch,
      recordings,
      checkout: checkouts[at],
      environment: { AFTERCAST_HLS_ENCRYPTION: encryption, AFTERCAST_HLS_CACHE_MEGABYTES: '0' },
      wrapper: createPin()(0),
    })
  return [await start(0), await start(1)]
}

async function rowsOf(
  name: string,
  servers: Pair<StartedServer>,
  list: (url: string) => Promise<string[]>,
): Promise<Pair<Row>> {
  const rowOf = async ({ url, pid }: StartedServer): Promise<Row> => {
    const paths = await list(url)
    return { name, pid, origin: url, paths: () => paths }
  }
  return [await rowOf(servers[0]), await rowOf(servers[1])]
}

async function listSegments(url: string, session: string): Promise<string[]> {
  const { segments } = await fetchPlaylist(`${url}/api/video/${session}/playlist.m3u8`)
  return scatter(segments.map((segment) => new URL(segment.url).pathname))
}

function formatComparison({ name, unit, rounds }: Comparison): string[] {
  const older = median(rounds.map(([cost]) => cost))
  const current = median(rounds.map(([, cost]) => cost))
  const ratio = median(rounds.map(([one, other]) => other / one))
  return [name, older.toFixed(1), current.toFixed(1), `${ratio.toFixed(3)}x`, unit]
}
