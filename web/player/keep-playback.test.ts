// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepPlayback } from './keep-playback.ts'
import type { KeptPlayback } from './keep-playback.ts'

let video: HTMLVideoElement
let left: AbortController
let playback: KeptPlayback
/** jsdom plays nothing: its state is what the test says. */
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
  playback = keepPlayback(video, left.signal)
})

afterEach(() => left.abort())

function change(paused: boolean): void {
  isPaused = paused
  video.dispatchEvent(new Event(paused ? 'pause' : 'play'))
}

test('plays on when another source has paused what played', () => {
  change(false)
  isPaused = true
  playback.goOn()
  expect(play).toHaveBeenCalledOnce()
})

test('leaves paused what the visitor has paused, and what has never begun', () => {
  playback.goOn()
  change(false)
  change(true)
  playback.goOn()
  expect(play).not.toHaveBeenCalled()
})

test('keeps the speed over another source, but not for the next session', () => {
  video.playbackRate = 2
  video.dispatchEvent(new Event('ratechange'))
  expect(video.defaultPlaybackRate).toBe(2)
  left.abort()
  expect(video.defaultPlaybackRate).toBe(1)
})

test('is awaited while it is to play and has nothing to, also while another source has paused it', () => {
  expect(playback.isAwaited()).toBe(false)
  change(false)
  expect(playback.isAwaited()).toBe(true)
  isPaused = true
  readyState = HTMLMediaElement.HAVE_NOTHING
  expect(playback.isAwaited()).toBe(true)
  readyState = HTMLMediaElement.HAVE_FUTURE_DATA
  expect(playback.isAwaited()).toBe(false)
  readyState = HTMLMediaElement.HAVE_NOTHING
  change(true)
  expect(playback.isAwaited()).toBe(false)
})
