// The flags that all benchmarks share.
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

/** How large a benchmark is. */
export interface BenchOptions {
  /** Folder in which made media and segments are kept between runs. */
  cache: string
  /** Length of the recordings. */
  mediaSeconds: number
  /** Seconds that are encoded; the rest repeats them. */
  encodedSeconds: number
  pictureHeight: 1080 | 360
  rounds: number
  rowSeconds: number
  /** Everything tiny: shows that it works, measures nothing. */
  isSmoke: boolean
}

/** Reads `--cache DIR --minutes N --rounds N --seconds N --smoke`. @throws TypeError for anything else */
export function readBenchOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      cache: { type: 'string', default: path.join(tmpdir(), 'aftercast-bench') },
      minutes: { type: 'string', default: '60' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '4' },
      smoke: { type: 'boolean', default: false },
    },
  })
  const cache = path.resolve(values.cache)
  if (values.smoke) {
    const tiny = { mediaSeconds: 30, encodedSeconds: 2, pictureHeight: 360, rounds: 1 } as const
    return { cache, ...tiny, rowSeconds: 0.5, isSmoke: true }
  }
  return {
    cache,
    mediaSeconds: positive(values.minutes, 'minutes') * 60,
    encodedSeconds: 60,
    pictureHeight: 1080,
    rounds: positive(values.rounds, 'rounds'),
    rowSeconds: positive(values.seconds, 'seconds'),
    isSmoke: false,
  }
}

function positive(text: string, name: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`--${name} takes a whole number`)
  return value
}
