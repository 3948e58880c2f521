// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mock } from 'vitest'
import { createAutoplay } from './autoplay.ts'
import type { Autoplay, Sound } from './autoplay.ts'

let video: HTMLVideoElement
let play: Mock<HTMLVideoElement['play']>
let sounds: Sound[]
let autoplay: Autoplay

beforeEach(() => {
  video = document.createElement('video')
  // jsdom has no media engine of its own.
  play = vi.spyOn(video, 'play').mockResolvedValue(undefined)
  sounds = []
  autoplay = createAutoplay(video, (sound) => sounds.push(sound))
})

afterEach(() => {
  autoplay.dispose()
  vi.restoreAllMocks()
})

/** The browser's answer to a video that would be heard without a gesture. */
function refuseSound(): void {
  play.mockImplementation(() => (video.muted ? Promise.resolve() : Promise.reject(refusal())))
}

function refusal(): DOMException {
  return new DOMException('no gesture', 'NotAllowedError')
}

function beginToLoad(): void {
  video.dispatchEvent(new Event('loadstart'))
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve))
}

test('plays as soon as there is a source', () => {
  autoplay.release()
  expect(play).not.toHaveBeenCalled()
  beginToLoad()
  expect(play).toHaveBeenCalledOnce()
})

test('plays at once where the source was there before', () => {
  vi.spyOn(video, 'networkState', 'get').mockReturnValue(HTMLMediaElement.NETWORK_LOADING)
  const later = createAutoplay(video, () => undefined)
  later.release()
  expect(play).toHaveBeenCalledOnce()
  later.dispose()
})

test('does not play a loaded source while something stands before it', () => {
  beginToLoad()
  expect(play).not.toHaveBeenCalled()
  autoplay.release()
  expect(play).toHaveBeenCalledOnce()
})

test('does not play in a background tab before it is looked at', () => {
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  autoplay.release()
  beginToLoad()
  expect(play).not.toHaveBeenCalled()
  hidden.mockReturnValue(false)
  document.dispatchEvent(new Event('visibilitychange'))
  expect(play).toHaveBeenCalledOnce()
})

test('says nothing where the video is heard', async () => {
  autoplay.release()
  beginToLoad()
  await settle()
  expect(video.muted).toBe(false)
  expect(sounds).toEqual([])
})

test('starts muted, and offers the sound, where the browser refuses it', async () => {
  refuseSound()
  autoplay.release()
  beginToLoad()
  await settle()
  expect(play).toHaveBeenCalledTimes(2)
  expect(video.muted).toBe(true)
  expect(sounds).toEqual(['silenced'])
})

test('takes the offer back once the visitor has unmuted', async () => {
  refuseSound()
  autoplay.release()
  beginToLoad()
  await settle()
  video.dispatchEvent(new Event('volumechange'))
  expect(sounds).toEqual(['silenced'])
  video.muted = false
  video.dispatchEvent(new Event('volumechange'))
  expect(sounds).toEqual(['silenced', 'heard'])
})

test('gives the next session its sound back', async () => {
  refuseSound()
  autoplay.release()
  beginToLoad()
  await settle()
  autoplay.dispose()
  expect(video.muted).toBe(false)
  expect(sounds).toEqual(['silenced', 'heard'])
})

test('leaves the video paused and unmuted where even a muted start is refused', async () => {
  play.mockRejectedValue(refusal())
  autoplay.release()
  beginToLoad()
  await settle()
  expect(video.muted).toBe(false)
  expect(sounds).toEqual([])
})

test('leaves a video muted that the visitor has muted', async () => {
  video.muted = true
  play.mockRejectedValue(refusal())
  autoplay.release()
  beginToLoad()
  await settle()
  expect(play).toHaveBeenCalledOnce()
  expect(video.muted).toBe(true)
})

test('does not mute where it is not the browser that refuses', async () => {
  play.mockRejectedValue(new DOMException('another source', 'AbortError'))
  autoplay.release()
  beginToLoad()
  await settle()
  expect(play).toHaveBeenCalledOnce()
  expect(video.muted).toBe(false)
})

test('does not play for a visitor who has left', () => {
  autoplay.dispose()
  autoplay.release()
  beginToLoad()
  expect(play).not.toHaveBeenCalled()
})
