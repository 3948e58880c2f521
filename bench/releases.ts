// `npm run bench -- releases --older DIR`: scans, lists and segments of this release and an older
// one, alternately.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { playlistApiPath, sessionsApiPath, streamersApiPath } from '../shared/paths.ts'
import { listSegments, scatter } from './cut-segments.ts'
import { writeRecordings } from './endurance/listing.ts'
import type { Bench } from './harness.ts'
import { readEndedChildrenSeconds } from './machine.ts'
import { ensureMedia, sessionOf } from './media.ts'
import { formatRows, measureRows } from './measure.ts'
import type { Row } from './measure.ts'
import { formatTable, median } from './table.ts'

const SMALL_RECORDINGS = 1000
const SMOKE_RECORDINGS = 5
const STREAMER = 's0'
const SCAN = 'first scan'
const FORMATS = ['mp4', 'ts', 'mkv', 'flv'] as const

interface Release {
  name: 'this' | 'older'
  checkout: string
}

/** Prints the CPU time of scans, and the rows of this release beside those of the older one. */
export async function benchReleases(bench: Bench): Promise<string[]> {
  const { rows: wanted, isSmoke, older } = bench.options
  const small = path.join(bench.scratch, 'small')
  writeRecordings(small, isSmoke ? SMOKE_RECORDINGS : SMALL_RECORDINGS)
  const releases: readonly Release[] = [
    { name: 'this', checkout: path.resolve(import.meta.dirname, '..') },
    { name: 'older', checkout: older },
  ]
  const lines = SCAN.includes(wanted) ? measureScans(bench, releases, small) : []
  const own: Row[][] = []
  for (const release of releases) own.push(await prepareRows(bench, release, small))
  const pairs = (own[0] ?? []).flatMap((row, at) => [row, ...(own[1]?.slice(at, at + 1) ?? [])])
  const rows = pairs.filter(({ name }) => name.includes(wanted))
  return [...lines, ...formatRows(await measureRows(rows, bench))]
}

/** First scans of the small recordings; which release is first changes with the round. */
function measureScans(bench: Bench, releases: readonly Release[], small: string): string[] {
  const seconds = { this: [] as number[], older: [] as number[] }
  for (let round = 0; round < bench.options.rounds; round += 1) {
    for (const { name, checkout } of round % 2 === 0 ? releases : releases.toReversed()) {
      const data = path.join(bench.scratch, 'scan')
      rmSync(data, { recursive: true, force: true })
      const before = readEndedChildrenSeconds()
      const args = [path.join(checkout, 'server/main.ts'), 'scan', small, '--data', data]
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      if (status !== 0) throw new Error(`the scan failed: ${stderr}`)
      seconds[name].push(readEndedChildrenSeconds() - before)
    }
  }
  const ratios = seconds.this.map((own, round) => own / (seconds.older[round] ?? NaN))
  const figures = [median(seconds.older), median(seconds.this), median(ratios)]
  return formatTable(
    ['CPU time', 'older s', 'this s', 'this / older'],
    [SCAN, ...figures.map((figure) => figure.toFixed(2))],
  )
}

/** Starts the servers of a release, and lists what is requested from them. */
async function prepareRows(
  bench: Bench,
  { name: release, checkout }: Release,
  small: string,
): Promise<Row[]> {
  const { isSmoke } = bench.options
  const media = ensureMedia(bench.options)
  const start = async (recordings: string, encryption: string) => {
    const environment = {
      AFTERCAST_HLS_ENCRYPTION: encryption,
      AFTERCAST_HLS_CACHE_MEGABYTES: '0',
    }
    return bench.startNode({ recordings, checkout, environment })
  }
  const rows: Row[] = []
  const add = (name: string, { url, pid }: { url: string; pid: number }, paths: string[]): void => {
    const beside = release === 'this' ? [`older ${name}`] : []
    rows.push({ name: `${release} ${name}`, pid, origin: url, beside, paths: () => paths })
  }
  const lists = await start(small, 'none')
  add('list of streamers', lists, [streamersApiPath])
  add('list of sessions', lists, [sessionsApiPath(STREAMER)])
  for (const [encryption, formats] of isSmoke
    ? []
    : ([
        ['none', FORMATS],
        ['aes-128', ['ts']],
      ] as const)) {
    const server = await start(media.folder, encryption)
    for (const format of formats) {
      const paths = await listSegments(server.url + playlistApiPath(sessionOf(format)))
      add(`segments, ${format}, ${encryption}`, server, scatter(paths))
    }
  }
  return rows
}
