// What happens to the library while viewers watch, step by step: recordings are added, removed and
// hidden, and visitors browse.
import { rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionsApiPath, thumbnailApiPath } from '../../shared/paths.ts'
import { runInNewProcess } from '../../test/support/servers/run-program.ts'
import { writeRecording } from './listing.ts'
import type { Stage } from './run-scenario.ts'

const STEP_MS = 500
/** In steps. A smoke run has one step, in which everything happens. */
const ADD_EVERY = 10
const HIDE_EVERY = 60
const KEPT_RECORDINGS = 20
const GUEST = 'guest'
const DATE = '2026-02-01'
/** Hidden, removed or not listed yet, and a busy server. */
const EXPECTED = new Set([200, 404, 410, 503])

/** Until this time is over, at least one step. */
export async function changeLibrary(stage: Stage, durationMs: number): Promise<void> {
  const { isSmoke } = stage.bench.options
  const isTime = (step: number, every: number): boolean => isSmoke || step % every === 0
  const endMs = performance.now() + durationMs
  let added = 0
  for (let step = 1; step === 1 || performance.now() < endMs; step += 1) {
    const untilMs = performance.now() + STEP_MS
    if (isTime(step, ADD_EVERY)) replaceOldest(stage.recordings, (added += 1))
    if (isTime(step, HIDE_EVERY)) await toggleGuest(stage, step)
    await browse(stage, added)
    if (!isSmoke) await sleep(Math.max(0, untilMs - performance.now()))
  }
}

function guestSession(number: number) {
  return { streamer: GUEST, date: DATE, sessionId: String(number) }
}

function replaceOldest(library: string, number: number): void {
  writeRecording(library, guestSession(number))
  const oldest = `${number - KEPT_RECORDINGS}.mp4`
  rmSync(path.join(library, GUEST, DATE, oldest), { force: true })
}

async function toggleGuest({ bench, data }: Stage, step: number): Promise<void> {
  const command = Math.ceil(step / HIDE_EVERY) % 2 === 1 ? 'hide' : 'unhide'
  const args = [command, GUEST, '--data', data]
  const { code, stderr } = await runInNewProcess(args, { workingFolder: data })
  if (code !== 0) bench.faults.push(`${command}: ${stderr}`)
}

async function browse({ bench, nodes }: Stage, guest: number): Promise<void> {
  const thumbnail = thumbnailApiPath(guestSession(guest))
  for (const target of ['/', '/sitemap.xml', sessionsApiPath(GUEST), thumbnail]) {
    const response = await fetch(`${nodes[0]?.url}${target}`)
    await response.arrayBuffer()
    if (!EXPECTED.has(response.status)) bench.faults.push(`${response.status} for ${target}`)
  }
}
