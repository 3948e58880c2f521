// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { playDirectly } from './direct-engine.ts'
import type { PlaybackEvent } from '../playback/playback-state.ts'
import { Playlist } from '../playback/playlist.ts'

const SOURCE = 'http://127.0.0.1/playlist.m3u8'
/** Far more than the retries of a refused playlist. */
const FAILURES = 6

let video: HTMLVideoElement
let leave: AbortController
let loads: number
/** jsdom has no position and plays nothing. */
let currentTime: number
let isPaused: boolean
let readyState: number
const play = vi.fn<() => Promise<void>>(() => Promise.resolve())
let reports: PlaybackEvent[]

beforeEach(() => {
  vi.useFakeTimers()
  // jsdom has no media engine of its own.
  vi.stubGlobal('MediaError', { MEDIA_ERR_NETWORK: 2, MEDIA_ERR_DECODE: 3 })
  vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined)
  video = document.createElement('video')
  Object.defineProperty(video, 'error', { get: () => ({ code: 4 }) })
  loads = 0
  reports = []
  currentTime = 0
  isPaused = true
  readyState = 0
  play.mockClear()
  Object.assign(video, { play })
  Object.defineProperty(video, 'paused', { get: () => isPaused })
  Object.defineProperty(video, 'currentTime', {
    get: () => currentTime,
    set(seconds: number) {
      currentTime = seconds
    },
  })
  Object.defineProperty(video, 'readyState', { get: () => readyState })
  Object.defineProperty(video, 'src', {
    set() {
      loads += 1
      // HTML, media element load algorithm.
      currentTime = 0
      isPaused = true
    },
  })
  leave = new AbortController()
})

afterEach(() => {
  leave.abort()
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

function start(): void {
  const report = (event: PlaybackEvent) => void reports.push(event)
  playDirectly(video, new Playlist(SOURCE), { signal: leave.signal, report })
}

/** Fails repeatedly, while the server responds with this status. */
async function failWith(status: number): Promise<void> {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(null, { status })))
  start()
  for (let i = 0; i < FAILURES; i += 1) {
    video.dispatchEvent(new Event('error'))
    await vi.advanceTimersByTimeAsync(40_000)
  }
}

test('retries while the server has no playlist yet', async () => {
  await failWith(503)
  expect(loads).toBe(1 + FAILURES)
})

test('gives up a playlist that the server refuses within a minute', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(null, { status: 422 })))
  start()
  for (let i = 0; i < FAILURES; i += 1) {
    video.dispatchEvent(new Event('error'))
    await vi.advanceTimersByTimeAsync(2000)
  }
  expect(loads).toBe(3)
  expect(reports[0]).toEqual({ type: 'refused', refusal: 'unplayable' })
  expect(reports.at(-1)).toEqual({ type: 'gave up' })
})

test('continues with the original if the session lacks the quality', async () => {
  const requests: string[] = []
  vi.stubGlobal('fetch', (url: string) => {
    requests.push(url)
    return Promise.resolve(new Response(null, { status: 404 }))
  })
  const playlist = new Playlist(SOURCE, { quality: 'saver' })
  const report = (event: PlaybackEvent) => void reports.push(event)
  playDirectly(video, playlist, { signal: leave.signal, report })
  video.dispatchEvent(new Event('error'))
  await vi.advanceTimersByTimeAsync(0)
  expect([playlist.url, loads, reports]).toEqual([SOURCE, 2, []])
  video.dispatchEvent(new Event('error'))
  await vi.advanceTimersByTimeAsync(0)
  expect(requests).toEqual([`${SOURCE}?quality=saver`, SOURCE])
  expect(reports[0]).toEqual({ type: 'refused', refusal: 'missing' })
})

test('resumes at the same position within a second after a long outage', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(null, { status: 503 })))
  start()
  isPaused = false
  video.dispatchEvent(new Event('play'))
  currentTime = 1234
  for (let i = 0; i < FAILURES; i += 1) {
    video.dispatchEvent(new Event('error'))
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(loads).toBe(1 + FAILURES)
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(currentTime).toBe(1234)
  expect(play).toHaveBeenCalledOnce()
})

test('loads again when the element stops without an event', async () => {
  start()
  await vi.advanceTimersByTimeAsync(20_000)
  expect(loads).toBe(1)
  isPaused = false
  readyState = video.HAVE_ENOUGH_DATA
  video.dispatchEvent(new Event('play'))
  for (currentTime = 1; currentTime < 9; currentTime += 1) await vi.advanceTimersByTimeAsync(2500)
  expect(loads).toBe(1)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(loads).toBe(2)
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(currentTime).toBe(9)
  expect(play).toHaveBeenCalledOnce()
})
