// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test } from 'vitest'
import { trackDecodableStart } from './decodable-start.ts'

let video: HTMLVideoElement
let ended: AbortController
let startSeconds: () => number

beforeEach(() => {
  video = document.createElement('video')
  ended = new AbortController()
  startSeconds = trackDecodableStart(video, ended.signal)
})

afterEach(() => ended.abort())

function dispatch(event: string, seconds: number): void {
  video.currentTime = seconds
  video.dispatchEvent(new Event(event))
}

test('is the start of the session before anything has played', () => {
  dispatch('seeked', 500)
  expect(startSeconds()).toBe(0)
})

test('is the last seek position, once it has played from there', () => {
  dispatch('seeked', 500)
  dispatch('timeupdate', 500.5)
  expect(startSeconds()).toBe(0)
  dispatch('timeupdate', 501.2)
  expect(startSeconds()).toBe(500)
})

test('does not change while the next position does not play', () => {
  dispatch('seeked', 500)
  dispatch('timeupdate', 502)
  dispatch('seeked', 900)
  dispatch('timeupdate', 900)
  dispatch('loadeddata', 906)
  dispatch('timeupdate', 906.2)
  expect(startSeconds()).toBe(500)
})
