// `npm run bench -- cold`: recordings that are not in the page cache. Measures their first playlist
// and their index, compared with ffprobe and cat.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { loadForgetFile } from './cold-file.ts'
import type { ForgetFile } from './cold-file.ts'
import { timePlaylist } from './cold-playlist.ts'
import { watchOthers } from '../disturbance.ts'
import { indexOnce } from './index.ts'
import { describeMachine, hasProgram } from '../machine.ts'
import { ensureMedia } from '../make-media.ts'
import type { MediaFormat, MediaOutput } from '../make-media.ts'
import { DISTURBED_SHARE } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median } from '../table.ts'

const SCANNED: readonly MediaFormat[] = ['ts', 'mkv', 'flv']
const LONG_FACTOR = 10

/** Two measurements to compare, in seconds. */
interface Pair {
  name: string
  /** Evicts the file from the page cache, as late as possible. */
  ours: () => Promise<Timing>
  theirs: (() => number) | undefined
  file: string
}

interface Timing {
  seconds: number
  cpuSeconds?: number
}

interface Samples {
  ours: Timing[]
  theirs: number[]
  disturbed: number
  heldShare: number
}

/** Prints two tables. Needs Linux, which can evict a file from the page cache. */
export async function benchCold(options: BenchOptions): Promise<void> {
  const forget = loadForgetFile()
  if (forget === undefined) throw new Error('files can be evicted on Linux only')
  const hour = await ensureMedia(options, SCANNED)
  const movies = await makeMovies(options)
  const playlists = movies.map((movie) => playlistPair(movie, options.cache, forget))
  const indexes = hour.outputs.map((output) => indexPair(output, forget))
  const tables: string[][] = []
  for (const [title, pairs] of [
    ['first playlist beside ffprobe', playlists],
    ['index beside cat', indexes],
  ] as const) {
    const samples = pairs.map((): Samples => ({ ours: [], theirs: [], disturbed: 0, heldShare: 0 }))
    for (let round = 0; round < options.rounds; round += 1) {
      for (const [at, pair] of pairs.entries()) await measure(pair, samples[at], { forget, round })
    }
    tables.push(formatPairs(title, pairs, samples))
  }
  const limitations = [
    `${options.rounds} rounds; medians. held: what could not be evicted of the file.`,
    '*: rounds in which',
    `others used over ${DISTURBED_SHARE * 100} % of the processors`,
  ].join(' ')
  for (const line of [...describeMachine([]), limitations]) console.log(line)
  for (const table of tables) console.log(['', ...table].join('\n'))
}

function formatSeconds(value: number): string {
  return value.toFixed(value < 1 ? 3 : 2)
}

interface Movie {
  name: string
  file: string
}

/** The longer recording has smaller frames: only its tables are read, and they are full size. */
async function makeMovies(options: BenchOptions): Promise<Movie[]> {
  const { mediaSeconds } = options
  const short = await ensureMedia(options, ['mp4'])
  const shortMovie = {
    name: `mp4, ${describeLength(mediaSeconds)}`,
    file: only(short.outputs).path,
  }
  if (options.isSmoke) return [shortMovie]
  const longSeconds = mediaSeconds * LONG_FACTOR
  const plan = { ...options, mediaSeconds: longSeconds, pictureHeight: 360 } as const
  const long = await ensureMedia(plan, ['mp4'])
  return [
    shortMovie,
    { name: `mp4, ${describeLength(longSeconds)}`, file: only(long.outputs).path },
  ]
}

function playlistPair({ name, file }: Movie, cache: string, forget: ForgetFile): Pair {
  return {
    name,
    file,
    ours: async () => ({ seconds: await timePlaylist(file, { cache, forget }) }),
    theirs: hasProgram('ffprobe')
      ? () => timeProgram('ffprobe', ['-show_format', file])
      : undefined,
  }
}

function indexPair({ path: file, format }: MediaOutput, forget: ForgetFile): Pair {
  return {
    name: format,
    file,
    ours: () => {
      forget(file)
      return indexOnce(file)
    },
    theirs: () => timeProgram('cat', [file]),
  }
}

function only(outputs: readonly MediaOutput[]): MediaOutput {
  const [output] = outputs
  if (output === undefined) throw new Error('no recording was made')
  return output
}

function describeLength(seconds: number): string {
  return seconds < 3600 ? `${seconds} s` : `${seconds / 3600} h`
}

function timeProgram(program: string, args: readonly string[]): number {
  const started = performance.now()
  const { status } = spawnSync(program, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed`)
  return (performance.now() - started) / 1000
}

/** The order alternates with the round. */
async function measure(
  { name, file, ours, theirs }: Pair,
  samples: Samples | undefined,
  { forget, round }: { forget: ForgetFile; round: number },
): Promise<void> {
  if (samples === undefined) return
  const othersShare = watchOthers()
  if (round % 2 === 0) samples.ours.push(await ours())
  samples.heldShare = Math.max(samples.heldShare, forget(file))
  if (theirs !== undefined) samples.theirs.push(theirs())
  if (round % 2 === 1) samples.ours.push(await ours())
  const others = othersShare()
  if (others > DISTURBED_SHARE) samples.disturbed += 1
  const competitor = samples.theirs.at(-1)?.toFixed(3)
  const figures = `${samples.ours.at(-1)?.seconds.toFixed(3)} s, beside ${competitor} s`
  console.error(`${round + 1} ${name}: ${figures} (others ${(others * 100).toFixed(0)} %)`)
}

function formatPairs(title: string, pairs: readonly Pair[], all: readonly Samples[]): string[] {
  const head = [title, 'MB', 'ours s', 'best', 'CPU s', 'theirs s', 'best', 'ratio', 'held', '*']
  const rows = pairs.map(({ name, file }, at) => {
    const { ours = [], theirs = [], disturbed = 0, heldShare = 0 } = all[at] ?? {}
    const seconds = ours.map((timing) => timing.seconds)
    const cpu = ours.flatMap(({ cpuSeconds }) => (cpuSeconds === undefined ? [] : [cpuSeconds]))
    return [
      name,
      (statSync(file).size / 1e6).toFixed(0),
      formatSeconds(median(seconds)),
      formatSeconds(Math.min(...seconds)),
      cpu.length === 0 ? '-' : formatSeconds(median(cpu)),
      theirs.length === 0 ? '-' : formatSeconds(median(theirs)),
      theirs.length === 0 ? '-' : formatSeconds(Math.min(...theirs)),
      theirs.length === 0 ? '-' : `${(median(seconds) / median(theirs)).toFixed(2)}x`,
      `${(heldShare * 100).toFixed(0)} %`,
      String(disturbed),
    ]
  })
  return formatTable([head, ...rows])
}
