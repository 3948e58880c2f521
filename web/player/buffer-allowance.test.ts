// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchBufferAllowance } from './buffer-allowance.ts'

let video: HTMLVideoElement
let left: AbortController
let seconds: () => number
let changes: number[]

beforeEach(() => {
  vi.useFakeTimers()
  video = document.createElement('video')
  left = new AbortController()
  changes = []
  const now = watchBufferAllowance(video, left.signal, ({ maxBufferLength }) =>
    changes.push(maxBufferLength),
  )
  seconds = () => now().maxBufferLength
})

afterEach(() => {
  left.abort()
  vi.useRealTimers()
})

function tell(...events: string[]): void {
  for (const event of events) video.dispatchEvent(new Event(event))
}

test('is small until there is playback, also for a visitor who does not begin', () => {
  vi.advanceTimersByTime(60_000)
  expect(changes).toEqual([])
  tell('play', 'playing')
  expect(changes).toEqual([12])
})

test('is large for a visitor who stays', () => {
  tell('play', 'playing')
  vi.advanceTimersByTime(9900)
  expect(seconds()).toBe(12)
  vi.advanceTimersByTime(200)
  expect(seconds()).toBe(30)
  // A halt in between changes nothing.
  tell('waiting', 'playing')
  expect(changes).toEqual([12, 30])
})

test('is small from a seek until there is a picture', () => {
  tell('play', 'playing', 'seeking')
  expect(seconds()).toBe(2)
  tell('seeked')
  vi.advanceTimersByTime(10_100)
  expect(changes).toEqual([12, 2, 12, 30])
})

test('stays small where a visitor seeks before the start', () => {
  tell('seeking', 'seeked')
  vi.advanceTimersByTime(60_000)
  expect(changes).toEqual([])
})

test('grows where a decoder waits for more than was thought enough', () => {
  tell('play')
  vi.advanceTimersByTime(2900)
  expect(seconds()).toBe(2)
  vi.advanceTimersByTime(200)
  expect(seconds()).toBe(30)
  tell('playing', 'seeking')
  vi.advanceTimersByTime(3100)
  tell('seeked')
  expect(changes).toEqual([30, 2, 30])
})

test('changes no more after the end', () => {
  tell('play')
  left.abort()
  vi.advanceTimersByTime(60_000)
  tell('playing')
  expect(changes).toEqual([])
})
