// @vitest-environment jsdom
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { loadHlsEngine } from '../engine/load-hls-engine.ts'
import { createSessionPreloader } from './session-preloader.ts'
import type { SessionPreloader } from './session-preloader.ts'
import { soon } from '../../../test/support/patience.ts'

const SOURCE = 'http://127.0.0.1:1/a.m3u8'
let preloader: SessionPreloader

beforeEach(async () => {
  // jsdom has no media engine: with this stub, the engine sets the source on the element.
  vi.stubGlobal('MediaSource', class {})
  vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined)
  await loadHlsEngine()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  preloader = createSessionPreloader()
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** Hovers long enough for a preload. */
function hover(source: string): void {
  preloader.preload(source)
  vi.advanceTimersByTime(50)
}

/** Takes the preloaded session and waits for its source. */
async function takeLoaded(source: string): Promise<HTMLVideoElement> {
  const preloaded = preloader.take(source)
  if (!preloaded) throw new Error('nothing is preloaded')
  onTestFinished(preloaded.end)
  const { video } = preloaded.playback
  await vi.waitFor(() => expect(video.src).toBe(source), soon)
  return video
}

test('preloads a session in a detached element, which can be taken once', async () => {
  hover(SOURCE)
  const video = await takeLoaded(SOURCE)
  expect([video.isConnected, video.controls, video.paused]).toEqual([false, true, true])
  expect(preloader.take(SOURCE)).toBeUndefined()
})

test('does not preload for a pointer that only crosses', () => {
  preloader.preload(SOURCE)
  vi.advanceTimersByTime(10)
  preloader.cancelSoon()
  vi.advanceTimersByTime(100)
  expect(preloader.take(SOURCE)).toBeUndefined()
})

test('does not discard it at once when hover ends', async () => {
  hover(SOURCE)
  preloader.cancelSoon()
  vi.advanceTimersByTime(500)
  expect((await takeLoaded(SOURCE)).src).toBe(SOURCE)
})

test('discards it a second after hover ends', () => {
  hover(SOURCE)
  preloader.cancelSoon()
  vi.advanceTimersByTime(1100)
  expect(preloader.take(SOURCE)).toBeUndefined()
})

test('discards it when another session is preloaded', async () => {
  hover(SOURCE)
  hover(`${SOURCE}?2`)
  await takeLoaded(`${SOURCE}?2`)
  expect(preloader.take(SOURCE)).toBeUndefined()
})

test('discards it after 30 s without a click', () => {
  hover(SOURCE)
  hover(SOURCE)
  vi.advanceTimersByTime(40_000)
  expect(preloader.take(SOURCE)).toBeUndefined()
})

test('requests only the playlist with Save Data, and ignores a failure', async () => {
  vi.stubGlobal('navigator', { userAgent: '', connection: { saveData: true } })
  const requested: (string | undefined)[] = []
  const server = createServer((request, response) => {
    requested.push(request.url)
    response.writeHead(503).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const source = `http://127.0.0.1:${port}/playlist.m3u8`
  preloader.preload('http://127.0.0.1:1/nobody')
  preloader.preload(source)
  await vi.waitFor(() => expect(requested).toEqual(['/playlist.m3u8']), soon)
  vi.advanceTimersByTime(1000)
  expect(preloader.take(source)).toBeUndefined()
})
