// Kills while a recording grows and is watched: what was listed stays, with the same bytes, and in
// the end all of it is there.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeLongTs } from '../../test/support/make/make-long-ts.ts'
import type { OpenScene } from './kill-scene.ts'
import { RecordedSession } from './recorded-session.ts'

const SECONDS = 600
const SETTLE_SECONDS = 3600
const KILL_WITHIN_MS = 1500
const APPEND_MS = 20
const APPENDS = 400
const POLL_MS = 50

export const openGrowing: OpenScene = async (folder, { isSmoke }) => {
  const library = path.join(folder, 'library')
  const settings = path.join(folder, 'settings.json')
  const whole = path.join(folder, 'whole.ts')
  const seconds = isSmoke ? SECONDS / 10 : SECONDS
  await makeLongTs(whole, seconds)
  const bytes = readFileSync(whole)
  writeFileSync(settings, JSON.stringify({ library: { settleSeconds: SETTLE_SECONDS } }))

  let number = 0
  const begin = (): RecordedSession => {
    number += 1
    const session = { streamer: 'alice', date: '2026-01-31', sessionId: String(number) }
    return new RecordedSession({ library, session, bytes, seconds, appends: APPENDS })
  }
  let recording = begin()
  const recorder = setInterval(() => recording.append(), APPEND_MS)
  /** Seen between two checks. */
  const seen: string[] = []

  return {
    args: [library, '--data', path.join(folder, 'data'), '--config', settings],
    killWithinMs: KILL_WITHIN_MS,

    async use({ url }, signal) {
      while (!signal.aborted) {
        seen.push(...(await recording.watch(url, signal)))
        await sleep(POLL_MS)
      }
    },

    async check({ url }) {
      const faults = [...seen.splice(0), ...(await recording.watch(url))]
      if (!recording.isComplete) return faults
      faults.push(...(await recording.end(url)))
      recording = begin()
      return faults
    },

    async close() {
      clearInterval(recorder)
    },
  }
}
