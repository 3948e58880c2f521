// The libraries that the page is measured with: a long list of streamers, and recordings of one and
// ten hours.
import { existsSync, linkSync, mkdirSync, rmSync, utimesSync, copyFileSync } from 'node:fs'
import path from 'node:path'
import { ensureMedia } from '../make-media.ts'
import type { BenchOptions } from '../options.ts'

export const PLAYED = { streamer: 'Player', date: '2026-01-31' } as const
/** How many sessions of ten hours there are: each can be opened for the first time once. */
export const LONG_SESSIONS = 20

const SMALL = path.resolve(
  import.meta.dirname,
  '../../test/fixtures/media/mp4-h264-aac-editlist-video-starts-1s.mp4',
)
/** File systems limit the number of hard links of one file. */
const LINKS_PER_FILE = 1000

/** A folder with one session for each of `count` streamers, cached between runs. */
export function ensureCrowd({ cache }: BenchOptions, count: number): string {
  const folder = path.join(cache, `crowd-${count}`)
  const done = path.join(folder, '.made')
  if (existsSync(done)) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  let source = SMALL
  for (let number = 0; number < count; number += 1) {
    const day = path.join(folder, `${streamerName(number)}/2026-01-30`)
    mkdirSync(day, { recursive: true })
    const file = path.join(day, '1001.mp4')
    if (number % LINKS_PER_FILE === 0) {
      copyFileSync(SMALL, file)
      // Long ago, so that no recording counts as growing.
      utimesSync(file, 1_769_900_000, 1_769_900_000)
      source = file
    } else {
      linkSync(source, file)
    }
  }
  mkdirSync(done)
  return folder
}

/** Names as people take them: different beginnings, so that a search finds few. */
function streamerName(number: number): string {
  const words = [
    'amber',
    'brook',
    'cedar',
    'delta',
    'ember',
    'fjord',
    'grove',
    'heath',
    'inlet',
    'jade',
  ]
  const word = (digit: number): string => words[digit % words.length] ?? ''
  const digits = String(number).padStart(5, '0')
  return `${word(number)} ${word(Math.floor(number / 10))} ${digits}`
}

/** A folder with a session of the given length, and sessions ten times as long, cached. */
export async function ensureRecordings(options: BenchOptions): Promise<string> {
  const { cache, mediaSeconds, isSmoke } = options
  const folder = path.join(cache, `played-${mediaSeconds}s`)
  const done = path.join(folder, '.made')
  if (existsSync(done)) return folder
  rmSync(folder, { recursive: true, force: true })
  const day = path.join(folder, PLAYED.streamer, PLAYED.date)
  mkdirSync(day, { recursive: true })
  const hour = await ensureMedia(options, ['mp4'])
  // Ten hours of 1080p would be 27 GB.
  const long: BenchOptions = { ...options, mediaSeconds: mediaSeconds * 10, pictureHeight: 360 }
  const tenHours = isSmoke ? hour : await ensureMedia(long, ['mp4'])
  linkSync(hour.outputs[0]?.path ?? '', path.join(day, 'hour.mp4'))
  const longSessions = isSmoke ? 1 : LONG_SESSIONS
  for (let number = 1; number <= longSessions; number += 1) {
    linkSync(tenHours.outputs[0]?.path ?? '', path.join(day, `long-${number}.mp4`))
  }
  mkdirSync(done)
  return folder
}
