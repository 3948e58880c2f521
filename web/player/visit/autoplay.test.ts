// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mock } from 'vitest'
import { createAutoplay } from './autoplay.ts'
import type { Autoplay, AutoplayAudio } from './autoplay.ts'

let video: HTMLVideoElement
let play: Mock<HTMLVideoElement['play']>
let states: AutoplayAudio[]
let autoplay: Autoplay

beforeEach(() => {
  video = document.createElement('video')
  // jsdom has no media engine of its own.
  play = vi.spyOn(video, 'play').mockResolvedValue(undefined)
  states = []
  autoplay = createAutoplay(video, (audio) => states.push(audio))
})

afterEach(() => {
  autoplay.dispose()
  vi.restoreAllMocks()
})

/** As a browser blocks audible playback without a gesture. */
function blockAudio(): void {
  play.mockImplementation(() => (video.muted ? Promise.resolve() : Promise.reject(blocked())))
}

function blocked(): DOMException {
  return new DOMException('no gesture', 'NotAllowedError')
}

function startLoading(): void {
  video.dispatchEvent(new Event('loadstart'))
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve))
}

test('plays as soon as there is a source', () => {
  autoplay.release()
  expect(play).not.toHaveBeenCalled()
  startLoading()
  expect(play).toHaveBeenCalledOnce()
})

/** As if the session was preloaded. */
function createLater(networkState: number): Autoplay {
  vi.spyOn(video, 'networkState', 'get').mockReturnValue(networkState)
  autoplay.dispose()
  autoplay = createAutoplay(video, () => undefined)
  return autoplay
}

test('plays at once if the source is set before', () => {
  createLater(HTMLMediaElement.NETWORK_LOADING).release()
  expect(play).toHaveBeenCalledOnce()
})

test('does not play again when a preloaded source is reloaded', () => {
  createLater(HTMLMediaElement.NETWORK_LOADING).release()
  startLoading()
  expect(play).toHaveBeenCalledOnce()
})

test('waits for the source of an element that was emptied just now', () => {
  createLater(HTMLMediaElement.NETWORK_NO_SOURCE).release()
  expect(play).not.toHaveBeenCalled()
  startLoading()
  startLoading()
  expect(play).toHaveBeenCalledOnce()
})

test('does not play a loaded source during the pre-roll', () => {
  startLoading()
  expect(play).not.toHaveBeenCalled()
  autoplay.release()
  expect(play).toHaveBeenCalledOnce()
})

test('does not play in a hidden tab until it is visible', () => {
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  autoplay.release()
  startLoading()
  expect(play).not.toHaveBeenCalled()
  hidden.mockReturnValue(false)
  document.dispatchEvent(new Event('visibilitychange'))
  expect(play).toHaveBeenCalledOnce()
})

test('reports nothing if the video is audible', async () => {
  autoplay.release()
  startLoading()
  await settle()
  expect(video.muted).toBe(false)
  expect(states).toEqual([])
})

test('starts muted, and offers to unmute, if the browser blocks audio', async () => {
  blockAudio()
  autoplay.release()
  startLoading()
  await settle()
  expect(play).toHaveBeenCalledTimes(2)
  expect(video.muted).toBe(true)
  expect(states).toEqual(['muted'])
})

test('withdraws the offer when the visitor unmutes', async () => {
  blockAudio()
  autoplay.release()
  startLoading()
  await settle()
  video.dispatchEvent(new Event('volumechange'))
  expect(states).toEqual(['muted'])
  video.muted = false
  video.dispatchEvent(new Event('volumechange'))
  expect(states).toEqual(['muted', 'audible'])
})

test('unmutes the next session', async () => {
  blockAudio()
  autoplay.release()
  startLoading()
  await settle()
  autoplay.dispose()
  expect(video.muted).toBe(false)
  expect(states).toEqual(['muted', 'audible'])
})

test('leaves the video paused and unmuted if even muted playback is blocked', async () => {
  play.mockRejectedValue(blocked())
  autoplay.release()
  startLoading()
  await settle()
  expect(video.muted).toBe(false)
  expect(states).toEqual([])
})

test('does not unmute a video that the visitor has muted', async () => {
  video.muted = true
  play.mockRejectedValue(blocked())
  autoplay.release()
  startLoading()
  await settle()
  expect(play).toHaveBeenCalledOnce()
  expect(video.muted).toBe(true)
})

test('does not mute after another error', async () => {
  play.mockRejectedValue(new DOMException('another source', 'AbortError'))
  autoplay.release()
  startLoading()
  await settle()
  expect(play).toHaveBeenCalledOnce()
  expect(video.muted).toBe(false)
})

test('does not play after the visitor has left', () => {
  autoplay.dispose()
  autoplay.release()
  startLoading()
  expect(play).not.toHaveBeenCalled()
})
