// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Playback } from '../playback/playback.ts'
import { Playlist } from '../playback/playlist.ts'
import { openMediaSession } from './media-session.ts'

let video: HTMLVideoElement
let left: AbortController
/** What the system has; jsdom has no media session. */
let system: {
  metadata: unknown
  playbackState: string
  position: MediaPositionState | undefined
  handlers: Map<string, unknown>
}

beforeEach(() => {
  system = { metadata: null, playbackState: 'none', position: undefined, handlers: new Map() }
  const mediaSession = Object.assign(system, {
    setPositionState: (position?: MediaPositionState) => void (system.position = position),
    setActionHandler(action: string, handler: unknown) {
      if (handler) system.handlers.set(action, handler)
      else system.handlers.delete(action)
    },
  })
  Object.defineProperty(navigator, 'mediaSession', { value: mediaSession, configurable: true })
  vi.stubGlobal('MediaMetadata', Object)
  video = document.createElement('video')
  Object.defineProperty(video, 'paused', { get: () => false })
  Object.defineProperty(video, 'duration', { get: () => 60 })
  left = new AbortController()
})

afterEach(() => {
  left.abort()
  Reflect.deleteProperty(navigator, 'mediaSession')
  vi.unstubAllGlobals()
})

test('registers the session with the system, and clears all of it on leaving', () => {
  const playback = new Playback(video, new Playlist('/playlist.m3u8'), left.signal)
  const close = openMediaSession(playback, {
    title: 'First run',
    artist: 'Alice',
    artworkUrl: '/thumbnail',
    onPrevious: () => undefined,
    onNext: undefined,
  })
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(system).toMatchObject({
    metadata: { title: 'First run', artist: 'Alice' },
    playbackState: 'playing',
    position: { duration: 60, position: 0 },
  })
  expect([...system.handlers.keys()]).toContain('previoustrack')
  expect([...system.handlers.keys()]).not.toContain('nexttrack')
  close()
  video.dispatchEvent(new Event('timeupdate'))
  expect(system).toMatchObject({ metadata: null, playbackState: 'none', position: undefined })
  expect([...system.handlers.keys()]).toEqual([])
})
