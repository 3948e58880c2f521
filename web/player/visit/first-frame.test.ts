// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { afterFirstFrame } from './first-frame.ts'

const then = vi.fn<() => void>()
let video: HTMLVideoElement
let left: AbortController

beforeEach(() => {
  vi.useFakeTimers()
  then.mockClear()
  video = document.createElement('video')
  left = new AbortController()
})

afterEach(() => void vi.useRealTimers())

/** jsdom shows no frames. Returns the function that shows one. */
function withFrames(): () => void {
  const callbacks: VideoFrameRequestCallback[] = []
  const requestVideoFrameCallback = (callback: VideoFrameRequestCallback) =>
    callbacks.push(callback)
  Object.assign(video, { requestVideoFrameCallback })
  const metadata = { mediaTime: 0 } as VideoFrameCallbackMetadata
  return () => callbacks.splice(0).forEach((callback) => callback(0, metadata))
}

test('calls back once, on the first frame', () => {
  const show = withFrames()
  afterFirstFrame(video, left.signal, then)
  video.dispatchEvent(new Event('loadeddata'))
  expect(then).not.toHaveBeenCalled()
  show()
  video.dispatchEvent(new Event('error'))
  vi.advanceTimersByTime(5000)
  expect(then).toHaveBeenCalledOnce()
})

test('calls back on loadeddata without requestVideoFrameCallback', () => {
  afterFirstFrame(video, left.signal, then)
  video.dispatchEvent(new Event('loadeddata'))
  expect(then).toHaveBeenCalledOnce()
})

test('calls back on an error', () => {
  withFrames()
  afterFirstFrame(video, left.signal, then)
  video.dispatchEvent(new Event('error'))
  expect(then).toHaveBeenCalledOnce()
})

test('waits for at most a second', () => {
  withFrames()
  afterFirstFrame(video, left.signal, then)
  vi.advanceTimersByTime(999)
  expect(then).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(then).toHaveBeenCalledOnce()
})

test('does not call back after the visitor has left', () => {
  const show = withFrames()
  afterFirstFrame(video, left.signal, then)
  left.abort()
  show()
  video.dispatchEvent(new Event('error'))
  vi.advanceTimersByTime(5000)
  expect(then).not.toHaveBeenCalled()
})
