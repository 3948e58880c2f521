// Small recordings of the endurance benchmarks, and what the site lists of them.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionsResponse, streamersResponse } from '../../shared/contract.ts'
import { sessionKey, sessionsApiPath, streamersApiPath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { makeSmallRecording, RECORDED_AT } from '../../test/support/temp-library.ts'
import { fetchShape } from '../lists.ts'

const STREAMERS = 10
const DAYS = 28
const POLL_MS = 50

/** Writes small recordings of different bytes. */
export function writeRecordings(library: string, count: number): SessionReference[] {
  return Array.from({ length: count }, (_, at) => {
    const day = String((at % DAYS) + 1).padStart(2, '0')
    const session = { streamer: `s${at % STREAMERS}`, date: `2026-01-${day}`, sessionId: `${at}` }
    writeRecording(library, session)
    return session
  })
}

/** Writes a small recording whose bytes are of this session alone. */
export function writeRecording(library: string, session: SessionReference): void {
  const { streamer, date, sessionId } = session
  const file = path.join(library, streamer, date, `${sessionId}.mp4`)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, makeSmallRecording(sessionKey(session)))
  utimesSync(file, RECORDED_AT, RECORDED_AT)
}

/** What the site lists. */
export interface Listing {
  /** By `streamer/date/sessionId`; undefined while unknown. */
  durations: Map<string, string | undefined>
  /** Sessions that are listed more than once, and wrong counts. */
  faults: string[]
}

export async function listSessions(url: string): Promise<Listing> {
  const listing: Listing = { durations: new Map(), faults: [] }
  const { streamers } = await fetchShape(url + streamersApiPath, streamersResponse)
  for (const { name, recording_count: count } of streamers) {
    const sessions = await fetchShape(url + sessionsApiPath(name), sessionsResponse)
    if (sessions.length < count) listing.faults.push(`${name}: ${sessions.length} of ${count}`)
    for (const { date, sessionId, duration } of sessions) {
      const key = `${name}/${date}/${sessionId}`
      if (listing.durations.has(key)) listing.faults.push(`${key} is listed twice`)
      listing.durations.set(key, duration)
    }
  }
  return listing
}

/** Waits until this many sessions are listed with a duration. */
export async function waitUntilListed(url: string, count: number): Promise<void> {
  for (;;) {
    const { durations } = await listSessions(url)
    const known = [...durations.values()].filter((duration) => duration !== undefined)
    if (known.length >= count) return
    await sleep(POLL_MS)
  }
}
