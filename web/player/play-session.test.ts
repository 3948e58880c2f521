// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mock } from 'vitest'
import { loadHlsEngine } from './load-hls-engine.ts'
import { chooseEngine, playSession } from './play-session.ts'

const withoutMediaSource = { hasMediaSource: false, isFirefox: false }
let video: HTMLVideoElement
let load: Mock<HTMLVideoElement['load']>

beforeEach(() => {
  video = document.createElement('video')
  // jsdom has no media engine of its own.
  load = vi.spyOn(video, 'load').mockImplementation(() => undefined)
})

afterEach(() => void vi.restoreAllMocks())

test('prefers hls.js wherever there is Media Source, whatever the browser says of HLS', () => {
  expect(chooseEngine({ hasMediaSource: true, isFirefox: false })).toBe('hls')
})

test('forces hls.js on Firefox, which has nothing to fall back to', () => {
  expect(chooseEngine({ hasMediaSource: false, isFirefox: true })).toBe('hls')
})

test('sets the source directly where hls.js cannot work', () => {
  const leave = playSession(video, 'http://127.0.0.1/playlist.m3u8', withoutMediaSource)
  expect(video.src).toBe('http://127.0.0.1/playlist.m3u8')
  leave()
})

test('sets the source directly where the library itself finds that it cannot work', async () => {
  const leave = playSession(video, 'http://127.0.0.1/playlist.m3u8', {
    hasMediaSource: true,
    isFirefox: false,
  })
  await vi.waitFor(() => expect(video.src).toBe('http://127.0.0.1/playlist.m3u8'))
  leave()
})

test('leaves the element empty', () => {
  playSession(video, 'http://127.0.0.1/playlist.m3u8', withoutMediaSource)()
  expect(video.hasAttribute('src')).toBe(false)
  expect(load).toHaveBeenCalledOnce()
})

test('starts nothing for a visitor who leaves before the player has come', async () => {
  playSession(video, 'http://127.0.0.1/a.m3u8', { hasMediaSource: true, isFirefox: true })()
  await loadHlsEngine().catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve))
  expect(video.hasAttribute('src')).toBe(false)
})

test('goes to 0 when the metadata is there, once for each session', () => {
  const seeks = watchSeeks(video, 12)
  const leave = playSession(video, 'http://127.0.0.1/a.m3u8', withoutMediaSource)
  video.dispatchEvent(new Event('loadedmetadata'))
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(seeks).toEqual([0])
  leave()
})

test('does not seek where the position is 0 already', () => {
  const seeks = watchSeeks(video, 0)
  const leave = playSession(video, 'http://127.0.0.1/a.m3u8', withoutMediaSource)
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(seeks).toEqual([])
  leave()
})

/** The positions that the element is sent to; it stands at `seconds` before. */
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
