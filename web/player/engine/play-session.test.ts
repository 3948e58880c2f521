// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mock } from 'vitest'
import { loadHlsEngine } from './load-hls-engine.ts'
import { chooseEngine } from './choose-engine.ts'
import { playSession } from './play-session.ts'
import { soon } from '../../../test/support/patience.ts'

const withoutMediaSource = { hasMediaSource: false, isFirefox: false }
let video: HTMLVideoElement
let load: Mock<HTMLVideoElement['load']>

beforeEach(() => {
  video = document.createElement('video')
  // jsdom has no media engine of its own.
  load = vi.spyOn(video, 'load').mockImplementation(() => undefined)
})

afterEach(() => void vi.restoreAllMocks())

test('prefers hls.js to native HLS if there is Media Source', () => {
  expect(chooseEngine({ hasMediaSource: true, isFirefox: false })).toBe('hls')
})

test('forces hls.js on Firefox, which has no native HLS', () => {
  expect(chooseEngine({ hasMediaSource: false, isFirefox: true })).toBe('hls')
})

test('sets the source directly if hls.js cannot work', async () => {
  const { end } = playSession(video, 'http://127.0.0.1/playlist.m3u8', {
    browser: withoutMediaSource,
  })
  await vi.waitFor(() => expect(video.src).toBe('http://127.0.0.1/playlist.m3u8'), soon)
  end()
})

test('sets the source directly if hls.js reports that it is not supported', async () => {
  const { end } = playSession(video, 'http://127.0.0.1/playlist.m3u8', {
    browser: { hasMediaSource: true, isFirefox: false },
  })
  await vi.waitFor(() => expect(video.src).toBe('http://127.0.0.1/playlist.m3u8'), soon)
  end()
})

test('plays the remembered audio, and another one without seeking to 0 again', async () => {
  localStorage.setItem('aftercast.player', '{"audio":"de"}')
  const { playback, end } = playSession(video, 'http://127.0.0.1/a.m3u8', {
    browser: withoutMediaSource,
  })
  await vi.waitFor(() => expect(video.src).toBe('http://127.0.0.1/a.m3u8?audio=de'), soon)
  video.dispatchEvent(new Event('loadedmetadata'))
  const seeks = watchSeeks(video, 12)
  playback.playlist.select({ audio: 'und.2' })
  expect(video.src).toBe('http://127.0.0.1/a.m3u8?audio=und.2')
  expect(playback.playlist.audio).toBe('und.2')
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(seeks).toEqual([12])
  end()
  localStorage.clear()
})

test('empties the element at the end', async () => {
  const { end } = playSession(video, 'http://127.0.0.1/playlist.m3u8', {
    browser: withoutMediaSource,
  })
  await vi.waitFor(() => expect(video.hasAttribute('src')).toBe(true), soon)
  end()
  expect(video.hasAttribute('src')).toBe(false)
  expect(load).toHaveBeenCalledOnce()
})

test('starts nothing if the visitor leaves before the player has loaded', async () => {
  const browser = { hasMediaSource: true, isFirefox: true }
  playSession(video, 'http://127.0.0.1/a.m3u8', { browser }).end()
  await loadHlsEngine().catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve))
  expect(video.hasAttribute('src')).toBe(false)
})

test('seeks to 0 on loadedmetadata, once per session', () => {
  const seeks = watchSeeks(video, 12)
  const { end } = playSession(video, 'http://127.0.0.1/a.m3u8', { browser: withoutMediaSource })
  video.dispatchEvent(new Event('loadedmetadata'))
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(seeks).toEqual([0])
  end()
})

test('seeks to 0 before the store reports the metadata', () => {
  const seeks = watchSeeks(video, 12)
  const { playback, end } = playSession(video, 'http://127.0.0.1/a.m3u8', {
    browser: withoutMediaSource,
  })
  Object.defineProperty(video, 'duration', { value: 60 })
  playback.subscribe(() => {
    if (playback.read().durationSeconds) video.currentTime = 30
  })
  for (const type of ['durationchange', 'loadedmetadata']) video.dispatchEvent(new Event(type))
  expect(seeks).toEqual([0, 30])
  end()
})

test('does not seek if the position is 0 already', () => {
  const seeks = watchSeeks(video, 0)
  const { end } = playSession(video, 'http://127.0.0.1/a.m3u8', { browser: withoutMediaSource })
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(seeks).toEqual([])
  end()
})

test('does not seek back if it already plays when the event is heard', () => {
  const seeks = watchSeeks(video, 0.02)
  const { end } = playSession(video, 'http://127.0.0.1/a.m3u8', { browser: withoutMediaSource })
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(seeks).toEqual([])
  end()
})

/** Records the seeks of the element, whose position is `seconds`. */
function watchSeeks(element: HTMLVideoElement, seconds: number): number[] {
  const seeks: number[] = []
  Object.defineProperty(element, 'currentTime', {
    get: () => seconds,
    set: (target: number) => {
      seeks.push(target)
    },
  })
  return seeks
}
