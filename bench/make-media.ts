// Makes the recordings that benchmarks read, once: the same packets in different containers.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readBenchOptions } from './options.ts'
import type { BenchOptions } from './options.ts'

/** The order of the child that encodes. */
export interface MediaPlan {
  outputs: MediaOutput[]
  mediaSeconds: number
  encodedSeconds: number
  pictureHeight: 1080 | 360
}

/** Containers; `fmp4` is an MP4 in fragments. */
export type MediaFormat = 'mp4' | 'ts' | 'fmp4' | 'mkv' | 'flv'

export interface MediaOutput {
  path: string
  format: MediaFormat
}

/** The recordings as a library, and which session is which container. */
export interface BenchLibrary {
  folder: string
  /** Changes with everything that the recordings depend on. */
  name: string
  sessions: Record<MediaFormat, string>
  outputs: MediaOutput[]
}

/** Incremented when the generated recordings change. */
const MEDIA_VERSION = 1
const DAY = 'bench/2026-01-31'
const SESSIONS = {
  mp4: `${DAY}/mp4`,
  ts: `${DAY}/ts`,
  fmp4: `${DAY}/fmp4`,
  mkv: `${DAY}/mkv`,
  flv: `${DAY}/flv`,
}
export const ALL_FORMATS: readonly MediaFormat[] = ['mp4', 'fmp4', 'ts', 'mkv', 'flv']
const DEFAULT_FORMATS: readonly MediaFormat[] = ['mp4', 'ts']

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log((await ensureMedia(readBenchOptions(process.argv.slice(2)))).folder)
}

/** Makes the recordings unless they exist; an interrupted run does not count as done. */
export async function ensureMedia(
  options: BenchOptions,
  formats: readonly MediaFormat[] = DEFAULT_FORMATS,
): Promise<BenchLibrary> {
  const { cache, mediaSeconds, encodedSeconds, pictureHeight } = options
  const kinds = formats === DEFAULT_FORMATS ? '' : `-${formats.join('-')}`
  const name = `v${MEDIA_VERSION}-${pictureHeight}p-${encodedSeconds}s-${mediaSeconds}s${kinds}`
  const folder = path.join(cache, `library-${name}`)
  const outputs = formats.map((format): MediaOutput => {
    const extension = format === 'fmp4' ? 'mp4' : format
    return { format, path: path.join(folder, `${SESSIONS[format]}.${extension}`) }
  })
  const library = { folder, name, sessions: SESSIONS, outputs }
  const done = path.join(folder, '.made')
  if (existsSync(done)) return library
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(path.join(folder, DAY), { recursive: true })
  console.error(`Making ${mediaSeconds} s of media in ${folder} …`)
  await runChild({ outputs, mediaSeconds, encodedSeconds, pictureHeight })
  // Long ago, so that no recording counts as growing.
  for (const output of outputs) utimesSync(output.path, 1_769_900_000, 1_769_900_000)
  mkdirSync(done)
  return library
}

async function runChild(plan: MediaPlan): Promise<void> {
  const child = fork(path.join(import.meta.dirname, 'make-media-child.ts'), [JSON.stringify(plan)])
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error('the media could not be made')
}
