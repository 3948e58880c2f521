// A folder of parts through the program: listed as one session, played as one, and updated with its
// parts.
import { rm } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { sessionsResponse } from '../shared/contract.ts'
import { playlistApiPath, sessionsApiPath, thumbnailApiPath } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const folder = 'alice/2026-02-01/late-night'
const session = { streamer: 'alice', date: '2026-02-01', sessionId: 'late-night' }

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('folders')
  await library.place(`${folder}/part1.ts`, 'ts-h264-pts-wrap-33bit.ts')
  await library.place(`${folder}/part2.mp4`, SMALL_FIXTURE)
  server = await startServer({ args: library.args })
})

async function listed(): Promise<(string | undefined)[]> {
  const answer = await fetch(server.url + sessionsApiPath('alice'))
  return parseExactly(sessionsResponse, await answer.json()).map(({ duration }) => duration)
}

describe('a folder of parts', () => {
  it('is one session, as long as its parts together', async () => {
    await expect.poll(listed).toEqual(['0:00:30'])
  })

  it('is played as one playlist, its parts in the order of their names', async () => {
    const { segments, isEnded } = await fetchPlaylist(server.url + playlistApiPath(session))
    expect(isEnded).toBe(true)
    const seconds = segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0)
    expect(seconds).toBeCloseTo(30, 0)
    const second = segments.findIndex(({ isDiscontinuity }, i) => i > 0 && isDiscontinuity)
    expect(second).toBeGreaterThan(0)
    for (const i of [0, second]) {
      const segment = segments[i]
      expect(segment && (await fetchSegment(segment)).length).toBeGreaterThan(1000)
    }
    expect((await fetch(server.url + thumbnailApiPath(session))).status).toBe(200)
  })

  it('shows a part that was added, and one that was removed,', async () => {
    await library.place(`${folder}/part3.mp4`, SMALL_FIXTURE)
    await expect.poll(listed).toEqual(['0:00:40'])
    await rm(library.pathOf(`${folder}/part1.ts`))
    await expect.poll(listed).toEqual(['0:00:20'])
    await rm(library.pathOf(folder), { recursive: true })
    const status = async () => (await fetch(server.url + playlistApiPath(session))).status
    await expect.poll(status).toBe(404)
  })
})
