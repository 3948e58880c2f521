// `npm run bench -- index` and `-- cold`: the time to index a recording beside reading its file,
// from memory and from disk, and the first playlist of one that is not in memory.
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, linkSync, mkdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { playlistApiPath } from '../shared/paths.ts'
import { fetchPlaylist } from '../test/support/servers/hls-client.ts'
import { fixturePath } from '../test/support/temp-library.ts'
import type { Bench } from './harness.ts'
import type { IndexReport } from './index-child.ts'
import { hasProgram, readPeakMebibytes, readProcessSeconds, watchOthers } from './machine.ts'
import { DAY, ensureLongMp4, ensureMedia } from './media.ts'
import type { MediaOutput } from './media.ts'
import { DISTURBED_SHARE } from './measure.ts'
import { formatTable, median } from './table.ts'

const CHILD = path.resolve(import.meta.dirname, 'index-child.ts')
/** Opened first: the index thread then runs, as it does in a server that is not new. */
const FIRST_RECORDING = 'mp4-h264-aac-moov-first.mp4'

/** Brings a file into the page cache, or out of it. Returns the share that is cached. */
type Prepare = (file: string) => number

/** Two measurements to compare. */
interface Pair {
  name: string
  file: string
  prepare: Prepare
  /** Prepares the file, as late as possible. */
  ours: () => Promise<IndexReport>
  /** A command that reads the file. */
  theirs: readonly [program: string, ...args: string[]]
}

export async function benchIndex(bench: Bench): Promise<string[]> {
  const { outputs } = ensureMedia(bench.options)
  const pairs = pairIndexes(bench.options.isSmoke ? outputs.slice(0, 1) : outputs, (file) => {
    timeProgram('cat', [file])
    return 1
  })
  return measurePairs('index from memory, beside cat', pairs, bench)
}

export async function benchCold(bench: Bench): Promise<string[]> {
  const { isSmoke, mediaSeconds } = bench.options
  const { outputs } = ensureMedia(bench.options)
  const movies = [{ name: `mp4, ${mediaSeconds} s`, file: outputs[0]?.path ?? '' }]
  if (!isSmoke) {
    const file = ensureLongMp4(bench.options)
    movies.push({ name: `mp4, ${mediaSeconds * 10} s`, file })
  }
  const playlists = movies.map(({ name, file }, at): Pair => ({
    name,
    file,
    prepare: forget,
    ours: async () => timePlaylist(bench, file, `movie-${at}`),
    theirs: ['ffprobe', '-show_format', file],
  }))
  const scanned = outputs.filter(({ format }) => format !== 'mp4' && format !== 'fmp4')
  const indexes = pairIndexes(isSmoke ? scanned.slice(0, 1) : scanned, forget)
  return [
    ...(await measurePairs('first playlist, beside ffprobe', playlists, bench)),
    ...(await measurePairs('index from disk, beside cat', indexes, bench)),
  ]
}

function pairIndexes(outputs: readonly MediaOutput[], prepare: Prepare): Pair[] {
  return outputs.map(({ format, path: file }) => ({
    name: format,
    file,
    prepare,
    async ours() {
      prepare(file)
      return indexOnce(file)
    },
    theirs: ['cat', file],
  }))
}

/** Indexes a recording in its own process. Rejects if the process ends without a report. */
async function indexOnce(recording: string): Promise<IndexReport> {
  const child = fork(CHILD, [recording])
  const exited = once(child, 'exit')
  const { promise, resolve, reject } = Promise.withResolvers<IndexReport>()
  child.once('message', (report: IndexReport) => resolve(report))
  child.once('exit', () => reject(new Error(`${recording} could not be indexed`)))
  const report = await promise
  await exited
  return report
}

/** Until the playlist of a recording that a running server has listed and never read. */
async function timePlaylist(bench: Bench, file: string, library: string): Promise<IndexReport> {
  const plan = {
    recordings: path.join(bench.scratch, library),
    data: path.join(bench.scratch, `${library}-data`),
  }
  const fetchOf = async (url: string, sessionId: string): Promise<void> =>
    void (await fetchPlaylist(url + playlistApiPath({ ...DAY, sessionId })))
  const day = path.join(plan.recordings, DAY.streamer, DAY.date)
  if (mkdirSync(day, { recursive: true }) !== undefined) {
    copyFileSync(fixturePath(FIRST_RECORDING), path.join(day, 'first.mp4'))
    linkSync(file, path.join(day, 'movie.mp4'))
    const server = await bench.startNode(plan)
    for (const sessionId of ['first', 'movie']) await fetchOf(server.url, sessionId)
    await server.stop()
  }
  // Listed in the catalog they stay.
  rmSync(path.join(plan.data, 'indexes'), { recursive: true })
  const server = await bench.startNode(plan)
  await fetchOf(server.url, 'first')
  forget(file)
  const cpuBefore = readProcessSeconds(server.pid)
  const started = performance.now()
  await fetchOf(server.url, 'movie')
  const seconds = (performance.now() - started) / 1000
  const cpuSeconds = readProcessSeconds(server.pid) - cpuBefore
  const peakMebibytes = readPeakMebibytes(server.pid)
  await server.stop()
  return { seconds, cpuSeconds, peakMebibytes }
}

async function measurePairs(
  title: string,
  pairs: readonly Pair[],
  bench: Bench,
): Promise<string[]> {
  const rows: string[][] = []
  for (const pair of pairs) rows.push(await measurePair(pair, bench.options.rounds))
  const ours = ['MB', 'ours s', 'best', 'CPU s', 'peak MiB']
  return [
    ...formatTable([title, ...ours, 'theirs s', 'best', 'ratio', 'cached', '*'], ...rows),
    `Medians. *: rounds in which others used over ${DISTURBED_SHARE * 100} % of the processors.`,
    '',
  ]
}

/** A row of the table. Who is first alternates with the round. */
async function measurePair(
  { name, file, prepare, ours, theirs: [program, ...args] }: Pair,
  rounds: number,
): Promise<string[]> {
  const own: IndexReport[] = []
  const [theirs, cached]: [number[], number[]] = [[], []]
  let disturbed = 0
  for (let round = 0; round < rounds; round += 1) {
    const readOthersShare = watchOthers()
    if (round % 2 === 0) own.push(await ours())
    cached.push(prepare(file))
    if (hasProgram(program)) theirs.push(timeProgram(program, args))
    if (round % 2 === 1) own.push(await ours())
    if (readOthersShare() > DISTURBED_SHARE) disturbed += 1
    console.error(`${round + 1} ${name}: ${own.at(-1)?.seconds} s, beside ${theirs.at(-1)} s`)
  }
  const format = (value: number): string =>
    Number.isFinite(value) ? value.toFixed(value < 1 ? 3 : 2) : '-'
  const seconds = own.map((one) => one.seconds)
  const cpu = own.map(({ cpuSeconds }) => cpuSeconds)
  return [
    name,
    (statSync(file).size / 1e6).toFixed(0),
    ...[median(seconds), Math.min(...seconds), median(cpu)].map(format),
    Math.max(...own.map(({ peakMebibytes }) => peakMebibytes)).toFixed(0),
    ...[median(theirs), Math.min(...theirs)].map(format),
    `${format(median(seconds) / median(theirs))}x`,
    `${(Math.max(...cached) * 100).toFixed(0)} %`,
    String(disturbed),
  ]
}

/** Evicts a file from the page cache. Returns what is left, NaN if it is not known. */
function forget(file: string): number {
  // Changed pages cannot be evicted.
  spawnSync('sync', [file])
  spawnSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'])
  const words = ['--bytes', '--noheadings', '--output', 'RES', file]
  const { status, stdout } = spawnSync('fincore', words, { encoding: 'utf8' })
  return status === 0 ? Number(stdout) / statSync(file).size : NaN
}

function timeProgram(program: string, args: readonly string[]): number {
  const started = performance.now()
  const { status } = spawnSync(program, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed`)
  return (performance.now() - started) / 1000
}
