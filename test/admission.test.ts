// More work than one process does at once, through the program: some requests are refused, for a
// moment, and others are answered.
import { expect, it, vi } from 'vitest'
import { sessionsResponse } from '../shared/contract.ts'
import { sessionsApiPath, streamersApiPath, thumbnailApiPath } from '../shared/paths.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { startServer } from './support/servers/start-server.ts'
import { createTempLibrary, makeSmallRecording } from './support/temp-library.ts'

/** Twice as many as are rendered and wait (`server/admission/limits.ts`). */
const SESSIONS = 130

it('refuses thumbnails beyond those that wait, and nothing else', async () => {
  const library = await createTempLibrary('admission')
  const paths: string[] = []
  for (let at = 0; at < SESSIONS; at += 1) {
    const sessionId = String(at)
    await library.place(`alice/2026-01-31/${sessionId}.mp4`, makeSmallRecording(sessionId))
    paths.push(thumbnailApiPath({ streamer: 'alice', date: '2026-01-31', sessionId }))
  }
  const server = await startServer({ args: library.args, environment: { AFTERCAST_WORKERS: '1' } })
  try {
    const request = async (target: string): Promise<Response> => {
      const response = await fetch(server.url + target)
      await response.arrayBuffer()
      return response
    }
    await vi.waitFor(async () => {
      const list = await fetch(server.url + sessionsApiPath('alice'))
      const sessions = parseExactly(sessionsResponse, await list.json())
      expect(sessions.filter(({ duration }) => duration !== undefined)).toHaveLength(SESSIONS)
    }, soon)
    const cold = Promise.all(paths.map(request))
    expect((await request(streamersApiPath)).status).toBe(200)
    const responses = await cold
    const refused = responses.filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThan(0)
    expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    for (const { headers } of refused) {
      expect(headers.get('retry-after')).toBe('1')
      expect(headers.get('cache-control')).toBe('no-store')
    }
    for (const target of paths)
      await expect.poll(async () => (await request(target)).status, soon).toBe(200)
  } finally {
    await server.stop()
    await library.remove()
  }
})
