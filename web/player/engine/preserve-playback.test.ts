// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { preservePlayback } from './preserve-playback.ts'
import type { PreservedPlayback } from './preserve-playback.ts'

let video: HTMLVideoElement
let left: AbortController
let playback: PreservedPlayback
/** jsdom plays nothing: the tests set its state. */
let isPaused: boolean
let readyState: number
const play = vi.fn<() => Promise<void>>(() => Promise.resolve())

beforeEach(() => {
  play.mockClear()
  isPaused = true
  video = document.createElement('video')
  Object.defineProperty(video, 'paused', { get: () => isPaused })
  readyState = HTMLMediaElement.HAVE_CURRENT_DATA
  Object.defineProperty(video, 'readyState', { get: () => readyState })
  Object.assign(video, { play })
  left = new AbortController()
  playback = preservePlayback(video, left.signal)
})

afterEach(() => left.abort())

function change(paused: boolean): void {
  isPaused = paused
  video.dispatchEvent(new Event(paused ? 'pause' : 'play'))
}

test('resumes after another source has paused the video', () => {
  change(false)
  isPaused = true
  playback.resume()
  expect(play).toHaveBeenCalledOnce()
})

test('does not resume what the visitor has paused or never started', () => {
  playback.resume()
  change(false)
  change(true)
  playback.resume()
  expect(play).not.toHaveBeenCalled()
})

test('preserves the speed for another source, but not for the next session', () => {
  video.playbackRate = 2
  video.dispatchEvent(new Event('ratechange'))
  expect(video.defaultPlaybackRate).toBe(2)
  left.abort()
  expect(video.defaultPlaybackRate).toBe(1)
})

test('sums up what the current source has played', () => {
  expect(playback.played()).toEqual({ seconds: 0, toSeconds: 0 })
  const spans = [
    [0, 2],
    [100, 104.5],
  ]
  const edge = (side: 0 | 1) => (at: number) => spans[at]?.[side] ?? NaN
  const ranges = { length: 2, start: edge(0), end: edge(1) }
  Object.defineProperty(video, 'played', { get: () => ranges })
  video.currentTime = 104.5
  expect(playback.played()).toEqual({ seconds: 6.5, toSeconds: 104.5 })
})

test('reports waiting while it plays without data, also while another source has paused it', () => {
  expect(playback.isWaiting()).toBe(false)
  change(false)
  expect(playback.isWaiting()).toBe(true)
  isPaused = true
  readyState = HTMLMediaElement.HAVE_NOTHING
  expect(playback.isWaiting()).toBe(true)
  readyState = HTMLMediaElement.HAVE_FUTURE_DATA
  expect(playback.isWaiting()).toBe(false)
  readyState = HTMLMediaElement.HAVE_NOTHING
  change(true)
  expect(playback.isWaiting()).toBe(false)
})

test('keeps the position while the element is reset, or at an end that is a failure', () => {
  let isEnded = false
  Object.defineProperty(video, 'ended', { get: () => isEnded })
  video.currentTime = 15
  expect(playback.position()).toBe(15)
  video.currentTime = 0
  video.dispatchEvent(new Event('timeupdate'))
  expect(playback.position()).toBe(15)
  isEnded = true
  video.currentTime = 30
  video.dispatchEvent(new Event('timeupdate'))
  expect(playback.position()).toBe(15)
})

test('knows a position that the visitor seeks to, also the start', () => {
  video.currentTime = 15
  video.dispatchEvent(new Event('seeking'))
  video.currentTime = 0
  video.dispatchEvent(new Event('seeking'))
  expect(playback.position()).toBe(0)
})

test('has the position that an engine moves to, until the element plays from elsewhere', () => {
  video.currentTime = 15
  expect(playback.position()).toBe(15)
  video.currentTime = 0
  playback.moveTo(23)
  expect(playback.position()).toBe(23)
  video.currentTime = 24
  expect(playback.position()).toBe(24)
})
