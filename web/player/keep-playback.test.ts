// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepPlayback } from './keep-playback.ts'

let video: HTMLVideoElement
let left: AbortController
let goOn: () => void
/** jsdom plays nothing: its state is what the test says. */
let isPaused: boolean
const play = vi.fn<() => Promise<void>>(() => Promise.resolve())

beforeEach(() => {
  play.mockClear()
  isPaused = true
  video = document.createElement('video')
  Object.defineProperty(video, 'paused', { get: () => isPaused })
  Object.assign(video, { play })
  left = new AbortController()
  goOn = keepPlayback(video, left.signal)
})

afterEach(() => left.abort())

function change(paused: boolean): void {
  isPaused = paused
  video.dispatchEvent(new Event(paused ? 'pause' : 'play'))
}

test('plays on when another source has paused what played', () => {
  change(false)
  isPaused = true
  goOn()
  expect(play).toHaveBeenCalledOnce()
})

test('leaves paused what the visitor has paused, and what has never begun', () => {
  goOn()
  change(false)
  change(true)
  goOn()
  expect(play).not.toHaveBeenCalled()
})

test('keeps the speed over another source, but not for the next session', () => {
  video.playbackRate = 2
  video.dispatchEvent(new Event('ratechange'))
  expect(video.defaultPlaybackRate).toBe(2)
  left.abort()
  expect(video.defaultPlaybackRate).toBe(1)
})
