// More work than one process does at once, through the program: some requests are refused, for a
// moment, and others are answered.
import { beforeAll, expect, it } from 'vitest'
import { storyboardApiPath, streamersApiPath, thumbnailApiPath } from '../shared/paths.ts'
import type { SessionReference } from '../shared/paths.ts'
import { soon } from './support/patience.ts'
import { childrenOf, startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { waitUntilIndexed } from './support/servers/wait-until-indexed.ts'
import { createTempLibrary, makeSmallRecording } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

/** More than twice as many as are rendered and wait (`server/base/admission/limits.ts`). */
const THUMBNAILS = 130
const STORYBOARDS = 70
/** Images that are requested again, once there is room. */
const LATER = 5

let library: TempLibrary
let server: StartedServer

const sessions = Array.from({ length: THUMBNAILS }, (_, at): SessionReference => ({
  streamer: 'alice',
  date: '2026-01-31',
  sessionId: String(at),
}))

beforeAll(async () => {
  library = await createTempLibrary('admission')
  for (const { streamer, date, sessionId } of sessions) {
    await library.place(`${streamer}/${date}/${sessionId}.mp4`, makeSmallRecording(sessionId))
  }
  server = await startServer({ args: library.args })
  await waitUntilIndexed(server.url, 'alice', sessions.length)
})

async function request(target: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(server.url + target, { signal: signal ?? null })
  await response.arrayBuffer()
  return response
}

/**
 * Requests all images while the decoder is stopped, then lets it continue. Returns the refusals,
 * once images are rendered again.
 */
async function refusalsOf(paths: readonly string[]): Promise<Response[]> {
  const [first = '', ...others] = paths
  await expect.poll(async () => (await request(first)).status, soon).toBe(200)
  // The decoder that has rendered the first one renders no other until all have been requested.
  const decoders = childrenOf(server.pid)
  expect(decoders).not.toEqual([])
  for (const pid of decoders) process.kill(pid, 'SIGSTOP')
  const responses: Response[] = []
  const left = new AbortController()
  const cold = Promise.allSettled(
    others.map(async (target) => responses.push(await request(target, left.signal))),
  )
  expect((await request(streamersApiPath)).status).toBe(200)
  const withStatus = (wanted: number) => responses.filter(({ status }) => status === wanted)
  await expect.poll(() => withStatus(503).length, soon).toBeGreaterThan(0)
  const refused = withStatus(503)
  for (const pid of decoders) process.kill(pid, 'SIGCONT')
  await expect.poll(() => withStatus(200).length, soon).toBeGreaterThan(0)
  left.abort()
  await cold
  for (const target of paths.slice(-LATER))
    await expect.poll(async () => (await request(target)).status, soon).toBe(200)
  return refused
}

async function firstSheetOf(session: SessionReference): Promise<string> {
  const target = storyboardApiPath(session)
  const text = await (await fetch(server.url + target)).text()
  const [, file = ''] = /^(?<file>.+)#xywh=/m.exec(text) ?? []
  return new URL(file, server.url + target).pathname
}

it.each([
  ['thumbnails', () => sessions.map(thumbnailApiPath)],
  [
    'sheets of storyboards',
    async () => Promise.all(sessions.slice(0, STORYBOARDS).map(firstSheetOf)),
  ],
])('refuses %s beyond those that wait, and nothing else', async (_name, list) => {
  const refusals = await refusalsOf(await list())
  const headers = refusals.map((response) => [
    response.headers.get('retry-after'),
    response.headers.get('cache-control'),
  ])
  expect(headers).toEqual(refusals.map(() => ['1', 'no-store']))
})
