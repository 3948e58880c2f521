// Kills while thumbnails are made and stored: each is complete, and the same as ever.
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { thumbnailApiPath } from '../../shared/paths.ts'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { OpenScene } from './kill-scene.ts'
import { writeRecordings } from './kill-library.ts'

const RECORDINGS = 120
const KILL_WITHIN_MS = 1500
/** Requests of one visitor, so that some thumbnails are always being written. */
const CONCURRENT = 8
/** Kills after which all thumbnails are made again. */
const RENEW_EVERY = 5

export const openThumbnails: OpenScene = async (folder, { isSmoke }) => {
  const library = path.join(folder, 'library')
  const data = path.join(folder, 'data')
  const sessions = writeRecordings(library, isSmoke ? RECORDINGS / 10 : RECORDINGS)
  const paths = sessions.map(thumbnailApiPath)
  const args = [library, '--data', data]
  const expected = new Map<string, string>()
  let kills = 0

  async function fetchAll(url: string, note: (path: string, hash: string) => void) {
    const remaining = [...paths]
    const visit = async (): Promise<void> => {
      for (let next = remaining.pop(); next !== undefined; next = remaining.pop())
        note(next, await fetchHash(url + next))
    }
    await Promise.all(Array.from({ length: CONCURRENT }, visit))
  }

  const first = await startServer({ args, environment: { AFTERCAST_WORKERS: '1' } })
  await fetchAll(first.url, (name, hash) => expected.set(name, hash))
  await first.stop()

  return {
    args,
    killWithinMs: KILL_WITHIN_MS,

    async prepare() {
      if (kills % RENEW_EVERY === 0) rmSync(path.join(data, 'thumbnails'), { recursive: true })
      kills += 1
    },

    async use({ url }) {
      await fetchAll(url, () => undefined)
    },

    async check({ url }) {
      const faults: string[] = []
      await fetchAll(url, (name, hash) => {
        if (hash !== expected.get(name)) faults.push(`${name} is another image: ${hash}`)
      })
      return faults
    },
  }
}

async function fetchHash(url: string): Promise<string> {
  const response = await fetch(url)
  const bytes = Buffer.from(await response.arrayBuffer())
  if (!response.ok) return String(response.status)
  return createHash('sha256').update(bytes).digest('hex')
}
