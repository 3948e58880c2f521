// @vitest-environment jsdom
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { loadHlsEngine } from './load-hls-engine.ts'
import { createReadySessions } from './ready-sessions.ts'
import type { ReadySessions } from './ready-sessions.ts'

const SOURCE = 'http://127.0.0.1:1/a.m3u8'
let sessions: ReadySessions

beforeEach(async () => {
  // jsdom has no media engine: with this, what would be hls.js's sets the source on the element.
  vi.stubGlobal('MediaSource', class {})
  vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined)
  await loadHlsEngine()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  sessions = createReadySessions()
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** A pointer that stays. */
function restOn(source: string): void {
  sessions.expect(source)
  vi.advanceTimersByTime(50)
}

/** The element of the session that was made ready for it, once it has its source. */
async function takeLoaded(source: string): Promise<HTMLVideoElement> {
  const ready = sessions.take(source)
  if (!ready) throw new Error('nothing is ready')
  onTestFinished(ready.end)
  await vi.waitFor(() => expect(ready.video.src).toBe(source))
  return ready.video
}

test('begins a session in an element of its own, which is handed over once', async () => {
  restOn(SOURCE)
  const video = await takeLoaded(SOURCE)
  expect([video.isConnected, video.controls, video.paused]).toEqual([false, true, true])
  expect(sessions.take(SOURCE)).toBeUndefined()
})

test('begins none for a pointer on its way', () => {
  sessions.expect(SOURCE)
  vi.advanceTimersByTime(10)
  sessions.doubt()
  vi.advanceTimersByTime(100)
  expect(sessions.take(SOURCE)).toBeUndefined()
})

test('keeps it for a moment of doubt', async () => {
  restOn(SOURCE)
  sessions.doubt()
  vi.advanceTimersByTime(500)
  expect((await takeLoaded(SOURCE)).src).toBe(SOURCE)
})

test('ends it when the doubt lasts', () => {
  restOn(SOURCE)
  sessions.doubt()
  vi.advanceTimersByTime(1100)
  expect(sessions.take(SOURCE)).toBeUndefined()
})

test('ends it when another is expected', async () => {
  restOn(SOURCE)
  restOn(`${SOURCE}?2`)
  await takeLoaded(`${SOURCE}?2`)
  expect(sessions.take(SOURCE)).toBeUndefined()
})

test('ends it when it is not played for long, however often it is expected', () => {
  restOn(SOURCE)
  restOn(SOURCE)
  vi.advanceTimersByTime(40_000)
  expect(sessions.take(SOURCE)).toBeUndefined()
})

test('brings no more than the playlist to who spares data, and says nothing where it cannot be had', async () => {
  vi.stubGlobal('navigator', { userAgent: '', connection: { saveData: true } })
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(503).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const source = `http://127.0.0.1:${port}/playlist.m3u8`
  sessions.expect('http://127.0.0.1:1/nobody')
  sessions.expect(source)
  await vi.waitFor(() => expect(asked).toEqual(['/playlist.m3u8']))
  vi.advanceTimersByTime(1000)
  expect(sessions.take(source)).toBeUndefined()
})
