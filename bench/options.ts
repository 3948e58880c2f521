// The flags that all benchmarks share.
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

/** How large a benchmark is. */
export interface BenchOptions {
  /** Folder in which generated media and libraries are cached between runs. */
  cache: string
  /** Length of the recordings. */
  mediaSeconds: number
  pictureHeight: 1080 | 360
  /** Only rows, scenes and phases whose names contain this. */
  rows: string
  rounds: number
  rowSeconds: number
  /** How often `kills` kills the server. */
  kills: number
  /** How long the long phases of `viewers` and `outage` take. */
  phaseMinutes: number
  /**
   * Folder of an older release, which `upgrade` replaces and `segments` measures too. Default this
   * one, and no rows of it.
   */
  older: string | undefined
  /** For the rows of ffmpeg, which other benchmarks do not have. */
  ffmpeg: string
  /** nginx-vod-module, built for the installed nginx. Default none: no rows of it. */
  vod: string
  /** Everything tiny: shows that it works, measures nothing, and has no time limit of its own. */
  isSmoke: boolean
}

const FLAGS = {
  cache: { type: 'string', default: path.join(tmpdir(), 'aftercast-bench') },
  rows: { type: 'string', default: '' },
  minutes: { type: 'string', default: '60' },
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '4' },
  kills: { type: 'string', default: '200' },
  'phase-minutes': { type: 'string', default: '5' },
  older: { type: 'string' },
  ffmpeg: { type: 'string', default: '/usr/bin/ffmpeg' },
  vod: { type: 'string', default: '' },
  smoke: { type: 'boolean', default: false },
} as const

const SMOKE = {
  mediaSeconds: 12,
  pictureHeight: 360,
  rounds: 1,
  rowSeconds: 0.1,
  kills: 1,
  phaseMinutes: 0,
  isSmoke: true,
} as const

/**
 * Reads names of benchmarks and flags; without a name, the first one, and `all` are all.
 *
 * @throws TypeError for anything else
 */
export function readBenchOptions<Name extends string>(
  args: string[],
  known: readonly Name[],
): { names: readonly Name[]; options: BenchOptions } {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: FLAGS })
  const { rows, vod, ffmpeg } = values
  const older = values.older === undefined ? undefined : path.resolve(values.older)
  const folders = { cache: path.resolve(values.cache), older }
  const names = readNames(positionals, known)
  const full = {
    mediaSeconds: positive(values.minutes, 'minutes') * 60,
    pictureHeight: 1080,
    rounds: positive(values.rounds, 'rounds'),
    rowSeconds: positive(values.seconds, 'seconds'),
    kills: positive(values.kills, 'kills'),
    phaseMinutes: positive(values['phase-minutes'], 'phase-minutes'),
    isSmoke: false,
  } as const
  return { names, options: { rows, vod, ffmpeg, ...folders, ...(values.smoke ? SMOKE : full) } }
}

function readNames<Name extends string>(
  wanted: readonly string[],
  known: readonly Name[],
): readonly Name[] {
  if (wanted.length === 0) return known.slice(0, 1)
  if (wanted.includes('all')) return known
  const names = wanted.flatMap((each) => known.filter((name) => name === each))
  if (names.length === wanted.length) return names
  throw new TypeError(`benchmarks are all, ${known.join(', ')}`)
}

function positive(text: string, name: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`--${name} takes a whole number`)
  return value
}
