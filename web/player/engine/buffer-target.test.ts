// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { adaptBufferTarget } from './buffer-target.ts'

let video: HTMLVideoElement
let ended: AbortController
let seconds: () => number
let changes: number[]

beforeEach(() => {
  vi.useFakeTimers()
  video = document.createElement('video')
  ended = new AbortController()
  changes = []
  const now = adaptBufferTarget(video, ended.signal, ({ maxBufferLength }) =>
    changes.push(maxBufferLength),
  )
  seconds = () => now().maxBufferLength
})

afterEach(() => {
  ended.abort()
  vi.useRealTimers()
})

function dispatch(...events: string[]): void {
  for (const event of events) video.dispatchEvent(new Event(event))
}

test('is small until playback starts, also for a visitor who does not start it', () => {
  vi.advanceTimersByTime(60_000)
  expect(changes).toEqual([])
  dispatch('play', 'playing')
  expect(changes).toEqual([12])
})

test('is large for a visitor who keeps watching', () => {
  dispatch('play', 'playing')
  vi.advanceTimersByTime(9900)
  expect(seconds()).toBe(12)
  vi.advanceTimersByTime(200)
  expect(seconds()).toBe(30)
  // A stall changes nothing.
  dispatch('waiting', 'playing')
  expect(changes).toEqual([12, 30])
})

test('is small from a seek to the next frame', () => {
  dispatch('play', 'playing', 'seeking')
  expect(seconds()).toBe(1)
  dispatch('seeked')
  vi.advanceTimersByTime(10_100)
  expect(changes).toEqual([12, 1, 12, 30])
})

test('stays small if the visitor seeks before playback', () => {
  dispatch('seeking', 'seeked')
  vi.advanceTimersByTime(60_000)
  expect(changes).toEqual([])
})

test('grows if the first frame does not appear in time', () => {
  dispatch('play')
  vi.advanceTimersByTime(2900)
  expect(seconds()).toBe(1)
  vi.advanceTimersByTime(200)
  expect(seconds()).toBe(30)
  dispatch('playing', 'seeking')
  vi.advanceTimersByTime(3100)
  dispatch('seeked')
  expect(changes).toEqual([30, 1, 30])
})

test('changes no more after the end', () => {
  dispatch('play')
  ended.abort()
  vi.advanceTimersByTime(60_000)
  dispatch('playing')
  expect(changes).toEqual([])
})
