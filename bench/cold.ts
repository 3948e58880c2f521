// `npm run bench -- cold`: recordings that are not in the page cache. Measures their first playlist
// and their index, compared with ffprobe and cat.
import { spawnSync } from 'node:child_process'
import { copyFileSync, linkSync, mkdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { playlistApiPath } from '../shared/paths.ts'
import { fetchPlaylist } from '../test/support/servers/hls-client.ts'
import { fixturePath } from '../test/support/temp-library.ts'
import { loadForgetFile } from './cold-file.ts'
import type { ForgetFile } from './cold-file.ts'
import type { Bench } from './harness.ts'
import { indexOnce } from './index.ts'
import { hasProgram, readProcessSeconds, watchOthers } from './machine.ts'
import { DAY, ensureLongMp4, ensureMedia } from './media.ts'
import { DISTURBED_SHARE } from './measure.ts'
import { formatTable, median } from './table.ts'

/** Opened first: the index thread then runs, as it does in a server that is not new. */
const FIRST_RECORDING = 'mp4-h264-aac-moov-first.mp4'

/** Two measurements to compare. */
interface Pair {
  name: string
  file: string
  /** Evicts the file from the page cache, as late as possible. */
  ours: () => Promise<{ seconds: number; cpuSeconds: number }>
  /** A command that reads the file. */
  theirs: readonly [program: string, ...args: string[]]
}

/** Two tables. Needs Linux, which can evict a file from the page cache. */
export async function benchCold(bench: Bench): Promise<string[]> {
  const forget = loadForgetFile()
  if (forget === undefined) throw new Error('files can be evicted on Linux only')
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
    ours: async () => timePlaylist(bench, { file, library: `movie-${at}` }, forget),
    theirs: ['ffprobe', '-show_format', file],
  }))
  const scanned = outputs.filter(({ format }) => format !== 'mp4' && format !== 'fmp4')
  const indexes = (isSmoke ? scanned.slice(0, 1) : scanned).map(({ format, path: file }): Pair => ({
    name: format,
    file,
    ours: async () => {
      forget(file)
      return indexOnce(file)
    },
    theirs: ['cat', file],
  }))
  return [
    ...(await measurePairs('first playlist beside ffprobe', playlists, { bench, forget })),
    ...(await measurePairs('index beside cat', indexes, { bench, forget })),
    'Medians. held: what could not be evicted of the file. *: rounds in which others used over',
    `${DISTURBED_SHARE * 100} % of the processors.`,
  ]
}

/** Seconds to the playlist of a recording that a running server has listed and never read. */
async function timePlaylist(
  bench: Bench,
  { file, library }: { file: string; library: string },
  forget: ForgetFile,
): Promise<{ seconds: number; cpuSeconds: number }> {
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
  await server.stop()
  return { seconds, cpuSeconds }
}

async function measurePairs(
  title: string,
  pairs: readonly Pair[],
  { bench, forget }: { bench: Bench; forget: ForgetFile },
): Promise<string[]> {
  const rows: string[][] = []
  for (const pair of pairs) rows.push(await measurePair(pair, bench.options.rounds, forget))
  const head = [title, 'MB', 'ours s', 'best', 'CPU s', 'theirs s', 'best', 'ratio', 'held', '*']
  return formatTable(head, ...rows)
}

/** A row of the table. Who is first alternates with the round. */
async function measurePair(
  { name, file, ours, theirs: [program, ...args] }: Pair,
  rounds: number,
  forget: ForgetFile,
): Promise<string[]> {
  const [own, cpu, theirs, held]: [number[], number[], number[], number[]] = [[], [], [], []]
  let disturbed = 0
  const measureOurs = async (): Promise<void> => {
    const { seconds, cpuSeconds } = await ours()
    own.push(seconds)
    cpu.push(cpuSeconds)
  }
  for (let round = 0; round < rounds; round += 1) {
    const readOthersShare = watchOthers()
    if (round % 2 === 0) await measureOurs()
    held.push(forget(file))
    if (hasProgram(program)) theirs.push(timeProgram(program, args))
    if (round % 2 === 1) await measureOurs()
    if (readOthersShare() > DISTURBED_SHARE) disturbed += 1
    console.error(`${round + 1} ${name}: ${own.at(-1)} s, beside ${theirs.at(-1)} s`)
  }
  const format = (value: number): string =>
    Number.isFinite(value) ? value.toFixed(value < 1 ? 3 : 2) : '-'
  const times = [median(own), Math.min(...own), median(cpu), median(theirs), Math.min(...theirs)]
  return [
    name,
    (statSync(file).size / 1e6).toFixed(0),
    ...times.map(format),
    `${format(median(own) / median(theirs))}x`,
    `${(Math.max(...held) * 100).toFixed(0)} %`,
    String(disturbed),
  ]
}

function timeProgram(program: string, args: readonly string[]): number {
  const started = performance.now()
  const { status } = spawnSync(program, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed`)
  return (performance.now() - started) / 1000
}
