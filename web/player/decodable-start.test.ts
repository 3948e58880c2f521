// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test } from 'vitest'
import { noteDecodableStart } from './decodable-start.ts'

let video: HTMLVideoElement
let life: AbortController
let startSeconds: () => number

beforeEach(() => {
  video = document.createElement('video')
  life = new AbortController()
  startSeconds = noteDecodableStart(video, life.signal)
})

afterEach(() => life.abort())

function happens(event: string, seconds: number): void {
  video.currentTime = seconds
  video.dispatchEvent(new Event(event))
}

test('is the start of the session before anything has played', () => {
  happens('seeked', 500)
  expect(startSeconds()).toBe(0)
})

test('is where the visitor went last, once it has played from there', () => {
  happens('seeked', 500)
  happens('timeupdate', 500.5)
  expect(startSeconds()).toBe(0)
  happens('timeupdate', 501.2)
  expect(startSeconds()).toBe(500)
})

test('stays where it was while the next place does not play', () => {
  happens('seeked', 500)
  happens('timeupdate', 502)
  happens('seeked', 900)
  happens('timeupdate', 900)
  happens('loadeddata', 906)
  happens('timeupdate', 906.2)
  expect(startSeconds()).toBe(500)
})
