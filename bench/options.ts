// The flags that all benchmarks share.
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

/** Benchmarks by name. */
export type BenchName = (typeof NAMES)[number]

const NAMES = [
  'segments',
  'fuzz',
  'index',
  'catalog',
  'scan',
  'cold',
  'thumbnails',
  'storyboard',
  'memory',
  'connections',
  'kills',
  'soak',
  'cluster',
  'cluster-library',
  'cluster-indexing',
  'cluster-outage',
  'cluster-upgrade',
  'releases',
  'sizing',
  'page-lists',
  'page-plays',
  'page-away',
  'page-hours',
  'page-lighthouse',
] as const

/** How large a benchmark is. */
export interface BenchOptions {
  /** What to run, in order. */
  names: BenchName[]
  /** Folder in which generated media and segments are cached between runs. */
  cache: string
  /** Length of the recordings. */
  mediaSeconds: number
  /** Seconds that are encoded; the rest repeats them. */
  encodedSeconds: number
  pictureHeight: 1080 | 360
  /** Only rows of `segments` and `releases` whose names contain this. */
  rows: string
  rounds: number
  rowSeconds: number
  /** Mutated copies that `fuzz` makes. */
  mutations: number
  /** Number of the first of them for each file: other numbers are other mutations. */
  firstCopy: number
  /** How often `kills` kills the server in each scene. */
  kills: number
  /** How long `soak` takes. */
  soakMinutes: number
  /** How long `cluster-outage` stops the database. */
  outageMinutes: number
  /**
   * Release that `cluster-upgrade` replaces, and that `releases` measures: its folder, with
   * dependencies. Default this one.
   */
  older: string
  /** Size of the recordings that `index` reads, about. */
  megabytes: number
  /** File that `segments` draws its chart to. */
  chart: string | undefined
  /** Everything tiny: shows that it works, measures nothing. */
  isSmoke: boolean
}

/**
 * Reads names of benchmarks and `--cache DIR --rows TEXT --minutes N --rounds N --seconds N
 * --mutations N --first-copy N --kills N --soak-minutes N --outage-minutes N --megabytes N
 * --older DIR --chart FILE --smoke`; without a name, `segments`; `all` are all.
 *
 * @throws TypeError for anything else
 */
export function readBenchOptions(args: string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      cache: { type: 'string', default: path.join(tmpdir(), 'aftercast-bench') },
      rows: { type: 'string', default: '' },
      minutes: { type: 'string', default: '60' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '4' },
      mutations: { type: 'string', default: '100000' },
      'first-copy': { type: 'string', default: '1' },
      kills: { type: 'string', default: '200' },
      'soak-minutes': { type: 'string', default: '60' },
      'outage-minutes': { type: 'string', default: '5' },
      megabytes: { type: 'string', default: '512' },
      older: { type: 'string', default: path.resolve(import.meta.dirname, '..') },
      chart: { type: 'string' },
      smoke: { type: 'boolean', default: false },
    },
  })
  const cache = path.resolve(values.cache)
  const names = readNames(positionals)
  const { rows, chart } = values
  const older = path.resolve(values.older)
  if (values.smoke) {
    const tiny = { mediaSeconds: 30, encodedSeconds: 2, pictureHeight: 360, rounds: 1 } as const
    const few = { mutations: 8, firstCopy: 1, megabytes: 2, kills: 1, soakMinutes: 0.1 }
    const brief = { rowSeconds: 0.1, outageMinutes: 0.01 }
    return { names, cache, rows, chart, older, ...tiny, ...few, ...brief, isSmoke: true }
  }
  return {
    names,
    cache,
    mediaSeconds: positive(values.minutes, 'minutes') * 60,
    encodedSeconds: 60,
    pictureHeight: 1080,
    rows,
    chart,
    older,
    rounds: positive(values.rounds, 'rounds'),
    rowSeconds: positive(values.seconds, 'seconds'),
    mutations: positive(values.mutations, 'mutations'),
    firstCopy: positive(values['first-copy'], 'first-copy'),
    kills: positive(values.kills, 'kills'),
    soakMinutes: positive(values['soak-minutes'], 'soak-minutes'),
    outageMinutes: positive(values['outage-minutes'], 'outage-minutes'),
    megabytes: positive(values.megabytes, 'megabytes'),
    isSmoke: false,
  }
}

function readNames(positionals: readonly string[]): BenchName[] {
  if (positionals.length === 0) return ['segments']
  if (positionals.includes('all')) return [...NAMES]
  return positionals.map((wanted) => {
    const name = NAMES.find((known) => known === wanted)
    if (name !== undefined) return name
    throw new TypeError(`there is no benchmark '${wanted}': all, ${NAMES.join(', ')}`)
  })
}

function positive(text: string, name: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`--${name} takes a whole number`)
  return value
}
