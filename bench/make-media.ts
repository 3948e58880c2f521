// Makes the recordings that benchmarks serve, once: an MP4 and a TS with the same packets.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readBenchOptions } from './options.ts'
import type { BenchOptions } from './options.ts'

/** What the child that encodes is told. */
export interface MediaPlan {
  mp4Path: string
  tsPath: string
  mediaSeconds: number
  encodedSeconds: number
  pictureHeight: 1080 | 360
}

/** The recordings as a library, and which session is which container. */
export interface BenchLibrary {
  folder: string
  /** Changes with everything that the recordings depend on. */
  name: string
  sessions: Record<'mp4' | 'ts', string>
}

/** Raised when the recordings would come out differently. */
const MEDIA_VERSION = 1
const SESSIONS = { mp4: 'bench/2026-01-31/mp4', ts: 'bench/2026-01-31/ts' }

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log((await ensureMedia(readBenchOptions(process.argv.slice(2)))).folder)
}

/** Makes the recordings unless they are there; a run that was broken off leaves nothing behind that looks done. */
export async function ensureMedia(options: BenchOptions): Promise<BenchLibrary> {
  const { cache, mediaSeconds, encodedSeconds, pictureHeight } = options
  const name = `v${MEDIA_VERSION}-${pictureHeight}p-${encodedSeconds}s-${mediaSeconds}s`
  const folder = path.join(cache, `library-${name}`)
  const library = { folder, name, sessions: SESSIONS }
  const place = path.join(folder, path.dirname(SESSIONS.mp4))
  const done = path.join(folder, '.made')
  if (existsSync(done)) return library
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  const mp4Path = path.join(place, 'mp4.mp4')
  const tsPath = path.join(place, 'ts.ts')
  console.error(`Making ${mediaSeconds} s of media in ${folder} …`)
  await runChild({ mp4Path, tsPath, mediaSeconds, encodedSeconds, pictureHeight })
  // Long ago, so that no recording looks as if it still grew.
  for (const file of [mp4Path, tsPath]) utimesSync(file, 1_769_900_000, 1_769_900_000)
  mkdirSync(done)
  return library
}

async function runChild(plan: MediaPlan): Promise<void> {
  const child = fork(path.join(import.meta.dirname, 'make-media-child.ts'), [JSON.stringify(plan)])
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error('the media could not be made')
}
