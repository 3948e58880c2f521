// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { afterFirstPicture } from './first-picture.ts'

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

/** jsdom shows no pictures. Answers what shows one. */
function withFrames(): () => void {
  const waiting: VideoFrameRequestCallback[] = []
  const requestVideoFrameCallback = (callback: VideoFrameRequestCallback) => waiting.push(callback)
  Object.assign(video, { requestVideoFrameCallback })
  const metadata = { mediaTime: 0 } as VideoFrameCallbackMetadata
  return () => waiting.splice(0).forEach((callback) => callback(0, metadata))
}

test('is told with the first picture, once', () => {
  const show = withFrames()
  afterFirstPicture(video, left.signal, then)
  video.dispatchEvent(new Event('loadeddata'))
  expect(then).not.toHaveBeenCalled()
  show()
  video.dispatchEvent(new Event('error'))
  vi.advanceTimersByTime(5000)
  expect(then).toHaveBeenCalledOnce()
})

test('takes what is decoded for shown where the browser does not tell of pictures', () => {
  afterFirstPicture(video, left.signal, then)
  video.dispatchEvent(new Event('loadeddata'))
  expect(then).toHaveBeenCalledOnce()
})

test('does not wait for a picture that cannot be had', () => {
  withFrames()
  afterFirstPicture(video, left.signal, then)
  video.dispatchEvent(new Event('error'))
  expect(then).toHaveBeenCalledOnce()
})

test('waits for a second at most', () => {
  withFrames()
  afterFirstPicture(video, left.signal, then)
  vi.advanceTimersByTime(999)
  expect(then).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(then).toHaveBeenCalledOnce()
})

test('tells a visitor who has left nothing', () => {
  const show = withFrames()
  afterFirstPicture(video, left.signal, then)
  left.abort()
  show()
  video.dispatchEvent(new Event('error'))
  vi.advanceTimersByTime(5000)
  expect(then).not.toHaveBeenCalled()
})
