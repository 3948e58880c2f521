// A session of the demo library that is recorded while one watches: a copy that grows as fast as it
// plays.
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rm, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf } from '../base/errors.ts'
import { DEMO_PLAN } from './demo-plan.ts'

interface LiveOptions {
  signal: AbortSignal
  /** Default now; milliseconds since 1970. */
  startMs?: number
  /** Default with a real timer. Rejects when the signal aborts. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

const STREAMER = 'bytecrafter'
const SOURCE = { date: '2025-10-05', sessionId: '2101' }
const LIVE = 'live'
const STEP_MS = 1000

/**
 * Records from now on, until the copy is complete or the signal aborts. Replaces those of earlier
 * starts. Does nothing in a library without the session that it copies.
 */
export async function recordLiveSession(
  library: string,
  {
    signal,
    startMs = Date.now(),
    wait = async (ms, until) => pause(ms, undefined, { signal: until }),
  }: LiveOptions,
): Promise<void> {
  const home = join(library, STREAMER)
  const source = join(home, SOURCE.date, `${SOURCE.sessionId}.ts`)
  const session = DEMO_PLAN.find(({ name }) => name === STREAMER)?.sessions.find(
    ({ date, sessionId }) => date === SOURCE.date && sessionId === SOURCE.sessionId,
  )
  if (session === undefined || !existsSync(source)) return
  await removeEarlier(home)
  const start = new Date(startMs).toISOString()
  const place = join(home, start.slice(0, 10))
  await mkdir(place, { recursive: true })
  const info = { title: 'Live right now', game: 'Block Party', timestamp: startMs / 1000 }
  await writeFile(join(place, `${LIVE}.info.json`), JSON.stringify(info))
  await using from = await open(source)
  await using to = await open(join(place, `${LIVE}.ts`), 'w')
  const { size } = await from.stat()
  const stepBytes = Math.ceil((size * STEP_MS) / (session.lengthSeconds * 1000))
  for (let position = 0; position < size; position += stepBytes) {
    await copy(from, to, { position, bytes: stepBytes })
    try {
      await wait(STEP_MS, signal)
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
  }
}

async function copy(
  from: FileHandle,
  to: FileHandle,
  { position, bytes }: { position: number; bytes: number },
): Promise<void> {
  const { buffer, bytesRead } = await from.read(Buffer.alloc(bytes), 0, bytes, position)
  await to.write(buffer, 0, bytesRead)
}

async function removeEarlier(home: string): Promise<void> {
  for (const date of await readdir(home)) {
    for (const ending of ['ts', 'info.json']) {
      await rm(join(home, date, `${LIVE}.${ending}`), { force: true }).catch((error: unknown) => {
        // A file beside the dates, such as `streamer.json`.
        if (codeOf(error) !== 'ENOTDIR') throw error
      })
    }
  }
}
