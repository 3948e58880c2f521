// @vitest-environment jsdom
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { Playback } from '../../../playback/playback.ts'
import { followStoryboard } from './follow-storyboard.ts'
import { Playlist } from '../../../playback/playlist.ts'

const url = 'https://a.example/api/storyboard/Alice/2026-01-31/7/storyboard.vtt'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** A session whose storyboard the server extends; each request gets the next status. */
function follow(statuses: number[]) {
  const media = { duration: 20, coveredSeconds: 20 }
  const video = document.createElement('video')
  Object.defineProperty(video, 'duration', { get: () => media.duration })
  const left = new AbortController()
  onTestFinished(() => left.abort())
  const playback = new Playback(video, new Playlist('http://127.0.0.1/playlist.m3u8'), left.signal)
  const requests: string[] = []
  vi.stubGlobal('fetch', async (requested: string) => {
    requests.push(requested)
    return new Response(formatStoryboard(media.coveredSeconds), { status: statuses.shift() ?? 200 })
  })
  video.dispatchEvent(new Event('loadedmetadata'))
  const ends: (number | undefined)[] = []
  const stop = followStoryboard({
    url,
    playback,
    onFrames: (frames) => ends.push(frames.at(-1)?.endSeconds),
  })
  const setDuration = (seconds: number) => {
    media.duration = seconds
    video.dispatchEvent(new Event('durationchange'))
  }
  return { media, requests, ends, stop, setDuration }
}

function formatStoryboard(seconds: number): string {
  const timing = `00:00.000 --> 00:${String(seconds).padStart(2, '0')}.000`
  return `WEBVTT\n\n${timing}\ntile-0.jpg#xywh=0,0,160,90\n`
}

test('loads once while the session does not grow', async () => {
  const { requests, ends, setDuration } = follow([])
  setDuration(21.9)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(requests).toEqual([url])
  expect(ends).toEqual([20])
})

test('loads again after growth, at most every 15 s', async () => {
  const { media, requests, ends, setDuration } = follow([])
  await vi.advanceTimersByTimeAsync(0)
  media.coveredSeconds = 30
  for (let seconds = 22; seconds <= 30; seconds += 2) setDuration(seconds)
  await vi.advanceTimersByTimeAsync(14_900)
  expect(requests).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(200)
  expect(requests).toHaveLength(2)
  expect(ends).toEqual([20, 30])
})

test('does not repeat a request for what the server does not cover', async () => {
  const { requests, setDuration } = follow([])
  setDuration(40)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(requests).toHaveLength(2)
})

test('has no frames without a storyboard, and the earlier ones after a failure', async () => {
  const absent = follow([404])
  await vi.advanceTimersByTimeAsync(0)
  expect(absent.ends).toEqual([undefined])
  const { ends, requests, setDuration } = follow([200, 503])
  await vi.advanceTimersByTimeAsync(0)
  setDuration(40)
  await vi.advanceTimersByTimeAsync(15_000)
  expect(requests).toHaveLength(2)
  expect(ends).toEqual([20])
})

test('adds no listener per request', async () => {
  const added = vi.spyOn(AbortSignal.prototype, 'addEventListener')
  onTestFinished(() => added.mockRestore())
  const { requests, setDuration } = follow([])
  await vi.advanceTimersByTimeAsync(0)
  const before = added.mock.calls.length
  for (let seconds = 30; seconds <= 50; seconds += 10) {
    setDuration(seconds)
    await vi.advanceTimersByTimeAsync(15_000)
  }
  expect(requests).toHaveLength(4)
  expect(added.mock.calls.length).toBe(before)
})

test('stops', async () => {
  const { requests, ends, stop, setDuration } = follow([])
  stop()
  setDuration(60)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(requests).toHaveLength(1)
  expect(ends).toEqual([])
})
