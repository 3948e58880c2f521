// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { QualityEvent } from '../../../shared/contract.ts'
import { measurePlayback } from './measure-playback.ts'

let video: HTMLVideoElement
let leave: AbortController
let listening: AbortController
let reports: QualityEvent[]
/** jsdom plays nothing. */
let isPaused: boolean
let isSeeking: boolean
let isHidden: boolean

beforeEach(() => {
  vi.useFakeTimers()
  video = document.createElement('video')
  leave = new AbortController()
  listening = new AbortController()
  reports = []
  isPaused = true
  isSeeking = false
  isHidden = false
  Object.defineProperty(video, 'paused', { get: () => isPaused })
  Object.defineProperty(video, 'seeking', { get: () => isSeeking })
  Object.defineProperty(video, 'readyState', { get: () => 4 })
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => isHidden)
  window.addEventListener('quality', ({ detail }) => reports.push(detail), {
    signal: listening.signal,
  })
})

afterEach(() => {
  leave.abort()
  listening.abort()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function fire(...types: string[]): void {
  for (const type of types) {
    if (type === 'play') isPaused = false
    if (type === 'pause') isPaused = true
    video.dispatchEvent(new Event(type))
  }
}

function pass(seconds: number): void {
  vi.advanceTimersByTime(seconds * 1000)
}

function hide(hidden: boolean): void {
  isHidden = hidden
  document.dispatchEvent(new Event('visibilitychange'))
}

const nothing = {
  name: 'playback',
  abandonedStarts: 0,
  playedSeconds: 0,
  stalls: 0,
  stalledSeconds: 0,
  networkErrors: 0,
  mediaErrors: 0,
  otherErrors: 0,
}

test('reports startup, playback and stalls once the visitor leaves', () => {
  const failed = measurePlayback(video, leave.signal)
  fire('play')
  pass(0.75)
  fire('playing')
  pass(10)
  fire('waiting')
  failed('network')
  pass(2)
  fire('playing')
  pass(5)
  fire('pause')
  pass(100)
  expect(reports).toEqual([])
  leave.abort()
  expect(reports).toEqual([
    {
      ...nothing,
      startupSeconds: 0.75,
      playedSeconds: 15,
      stalls: 1,
      stalledSeconds: 2,
      networkErrors: 1,
    },
  ])
})

test('counts neither the wait after a seek, nor the pause for a pre-roll', () => {
  measurePlayback(video, leave.signal)
  fire('play', 'pause')
  pass(30)
  fire('play')
  pass(0.5)
  fire('playing')
  pass(1)
  isSeeking = true
  fire('seeking', 'waiting')
  pass(3)
  isSeeking = false
  fire('seeked')
  pass(1)
  leave.abort()
  expect(reports).toEqual([{ ...nothing, startupSeconds: 0.5, playedSeconds: 2 }])
})

test('counts the wait for a source that is loaded again', () => {
  measurePlayback(video, leave.signal)
  fire('play', 'playing')
  pass(5)
  fire('emptied')
  pass(2)
  fire('play')
  pass(1)
  fire('playing')
  pass(1)
  leave.abort()
  expect(reports).toEqual([
    { ...nothing, startupSeconds: 0, playedSeconds: 6, stalls: 1, stalledSeconds: 3 },
  ])
})

test('reports differences whenever the page is hidden', () => {
  measurePlayback(video, leave.signal)
  fire('play', 'playing')
  pass(4)
  hide(true)
  hide(false)
  pass(3)
  fire('pause')
  window.dispatchEvent(new Event('pagehide'))
  leave.abort()
  expect(reports).toEqual([
    { ...nothing, startupSeconds: 0, playedSeconds: 4 },
    { ...nothing, playedSeconds: 3 },
  ])
})

test('reports a visitor who left before the first frame, but not one who never started', () => {
  const preloaded = new AbortController()
  measurePlayback(video, preloaded.signal)
  preloaded.abort()
  expect(reports).toEqual([])
  measurePlayback(video, leave.signal)
  fire('play')
  pass(6)
  leave.abort()
  expect(reports).toEqual([{ ...nothing, abandonedStarts: 1 }])
})
