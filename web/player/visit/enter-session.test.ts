// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { soon } from '../../../test/support/patience.ts'
import { noExtras } from '../../../shared/contract.ts'
import type { AdsConfig } from '../../../shared/contract.ts'
import { Resource } from '../../api/resource.ts'
import { enterSession, loadStart } from './enter-session.ts'
import { Playback } from '../playback/playback.ts'
import { Playlist } from '../playback/playlist.ts'

/** jsdom has no media engine: a test sets these facts of the element. */
let facts: { readyState: number; currentTime: number; duration: number; seeking: boolean }
let seeks: number[]
let video: HTMLVideoElement
let playback: Playback
let left: AbortController
const play = vi.fn<() => Promise<void>>(() => Promise.resolve())
const pause = vi.fn<() => void>()

beforeEach(() => {
  facts = { readyState: 0, currentTime: 0, duration: NaN, seeking: false }
  seeks = []
  video = Object.assign(document.createElement('video'), { play, pause })
  for (const name of ['readyState', 'duration', 'seeking'] as const) {
    Object.defineProperty(video, name, { get: () => facts[name] })
  }
  Object.defineProperty(video, 'currentTime', {
    get: () => facts.currentTime,
    set(seconds: number) {
      seeks.push(seconds)
    },
  })
  left = new AbortController()
  playback = new Playback(video, new Playlist('http://127.0.0.1/playlist.m3u8'), left.signal)
  vi.clearAllMocks()
})

afterEach(() => {
  left.abort()
  vi.useRealTimers()
})

/** Enters the session without a pre-roll. */
function enter(
  range: { startSeconds?: number; endSeconds?: number } = {},
  config = () => Promise.resolve(noExtras),
): () => void {
  const leave = enterSession({
    playback,
    stage: document.createElement('div'),
    config: new Resource(config),
    range: { startSeconds: undefined, endSeconds: undefined, ...range },
    onAudio: () => undefined,
  })
  left.signal.addEventListener('abort', leave)
  video.dispatchEvent(new Event('loadstart'))
  return leave
}

/** The element has metadata. */
function load(durationSeconds: number): void {
  Object.assign(facts, { readyState: 4, duration: durationSeconds })
  video.dispatchEvent(new Event('loadedmetadata'))
}

function moveTo(currentTime: number, type = 'timeupdate'): void {
  Object.assign(facts, { currentTime, seeking: type === 'seeking' })
  video.dispatchEvent(new Event(type))
}

async function expectPlaying(): Promise<void> {
  await vi.waitFor(() => expect(play).toHaveBeenCalledOnce(), soon)
}

test('plays when the playlist is loaded', async () => {
  enter()
  expect(play).not.toHaveBeenCalled()
  playback.report({ type: 'loaded' })
  await expectPlaying()
  expect(seeks).toEqual([])
})

test('plays at once if the session was preloaded', async () => {
  load(60)
  enter()
  await vi.waitFor(() => expect(play).toHaveBeenCalledOnce(), soon)
})

test('plays without a playlist after a second and a half, for one that arrives later', async () => {
  vi.useFakeTimers()
  enter()
  await vi.advanceTimersByTimeAsync(1499)
  expect(play).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(play).toHaveBeenCalledOnce()
})

test('waits for the playlist and the configuration at the same time', async () => {
  vi.useFakeTimers()
  enter({}, () => new Promise(() => undefined))
  await vi.advanceTimersByTimeAsync(1000)
  playback.report({ type: 'loaded' })
  await vi.advanceTimersByTimeAsync(499)
  expect(play).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(play).toHaveBeenCalledOnce()
})

test('never plays a session that is refused', async () => {
  vi.useFakeTimers()
  enter()
  playback.report({ type: 'refused', refusal: 'gone' })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(play).not.toHaveBeenCalled()
})

test('never plays after the visitor has left', async () => {
  vi.useFakeTimers()
  const leave = enter()
  leave()
  playback.report({ type: 'loaded' })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(play).not.toHaveBeenCalled()
})

test('seeks to the linked moment once the duration is known', async () => {
  enter({ startSeconds: 30 })
  playback.report({ type: 'loaded' })
  await expectPlaying()
  expect(seeks).toEqual([])
  load(60)
  video.dispatchEvent(new Event('loadedmetadata'))
  expect(seeks).toEqual([30])
})

const preroll: AdsConfig = {
  provider: 'network',
  insClass: 'x',
  vastUrl: '/vast',
  zones: { video: '1' },
  fill: 'frame',
}

test.each([
  { when: 'without a pre-roll', config: async () => noExtras, start: 30 },
  { when: 'without a configuration', config: async () => Promise.reject(new Error()), start: 30 },
  { when: 'with a pre-roll', config: async () => ({ ...noExtras, ads: preroll }), start: 0 },
])('loads from $start of a link to 30, $when', async ({ config, start }) => {
  const range = { startSeconds: 30, endSeconds: undefined }
  expect(await loadStart(new Resource(config), range, left.signal)).toBe(start)
})

test.each([60, 61])('ignores the moment %d of a session of 60 seconds', async (startSeconds) => {
  load(60)
  enter({ startSeconds })
  await expectPlaying()
  expect(seeks).toEqual([])
})

test('pauses at the linked end, once', async () => {
  load(60)
  enter({ endSeconds: 40 })
  moveTo(39.9)
  expect(pause).not.toHaveBeenCalled()
  moveTo(40.1)
  expect(pause).toHaveBeenCalledOnce()
  expect(seeks).toEqual([40])
  moveTo(39)
  moveTo(41)
  expect(pause).toHaveBeenCalledOnce()
})

test('does not pause if the visitor seeks past the end', () => {
  load(60)
  enter({ endSeconds: 40 })
  moveTo(10)
  moveTo(50, 'seeking')
  moveTo(50, 'seeked')
  moveTo(51)
  expect(pause).not.toHaveBeenCalled()
  moveTo(30, 'seeking')
  moveTo(39)
  moveTo(40)
  expect(pause).toHaveBeenCalledOnce()
})

test('pauses at the linked end in a quality that replaces one without a decoder', () => {
  enter({ endSeconds: 40 })
  playback.report({ type: 'undecodable', codec: 'hvc1.1.6.L93.B0', durationSeconds: 60 })
  playback.report({ type: 'moved', seconds: 20 })
  playback.report({ type: 'reopened' })
  load(60)
  moveTo(39.9)
  expect(pause).not.toHaveBeenCalled()
  moveTo(40.1)
  expect(pause).toHaveBeenCalledOnce()
  expect(seeks).toEqual([40])
})
