// Kills during a scan: what was listed with a duration stays so, and in the end all is.
import { rmSync } from 'node:fs'
import path from 'node:path'
import type { KillScene, OpenScene } from './kill-scene.ts'
import { listSessions, writeRecordings } from './kill-library.ts'
import { setTimeout as sleep } from 'node:timers/promises'

const RECORDINGS = 600
const KILL_WITHIN_MS = 1000
const POLL_MS = 20

export const openScan: OpenScene = async (folder, { isSmoke }) => {
  const library = path.join(folder, 'library')
  const data = path.join(folder, 'data')
  const sessions = writeRecordings(library, isSmoke ? RECORDINGS / 10 : RECORDINGS)
  /** Sessions that were listed with a duration since the data folder was new. */
  let known = new Map<string, string>()

  const scene: KillScene = {
    args: [library, '--data', data],
    killWithinMs: KILL_WITHIN_MS,

    async prepare() {
      if (known.size < sessions.length) return
      rmSync(data, { recursive: true, force: true })
      known = new Map()
    },

    async use({ url }, signal) {
      while (!signal.aborted) {
        await note(url, signal)
        await sleep(POLL_MS)
      }
    },

    async check({ url }) {
      const { durations, faults } = await listSessions(url)
      for (const [key, duration] of known) {
        if (durations.get(key) !== duration) faults.push(`${key} was ${duration}`)
      }
      if (durations.size > sessions.length) faults.push(`${durations.size} sessions`)
      await note(url)
      return faults
    },
  }

  async function note(url: string, signal?: AbortSignal): Promise<void> {
    const { durations } = await listSessions(url)
    signal?.throwIfAborted()
    for (const [key, duration] of durations) if (duration !== undefined) known.set(key, duration)
  }

  return scene
}
