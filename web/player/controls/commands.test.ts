// @vitest-environment jsdom
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { Playback } from '../playback/playback.ts'
import { jumpToLive, nextRate, runCommand } from './commands.ts'
import { slowDownAtEdge } from './live-edge.ts'
import type { Command } from './shortcuts/shortcuts.ts'
import { Playlist } from '../playback/playlist.ts'

/** jsdom has no media engine: a test sets these facts of the element. */
let facts: { readyState: number; currentTime: number; duration: number; paused: boolean }
let video: HTMLVideoElement
let playback: Playback
const play = vi.fn<() => Promise<void>>(() => Promise.resolve())
const pause = vi.fn<() => void>()

beforeEach(() => {
  facts = { readyState: 4, currentTime: 30, duration: 60, paused: true }
  video = document.createElement('video')
  for (const name of ['readyState', 'duration', 'paused'] as const) {
    Object.defineProperty(video, name, { get: () => facts[name] })
  }
  Object.defineProperty(video, 'currentTime', {
    get: () => facts.currentTime,
    set(seconds: number) {
      facts.currentTime = seconds
    },
  })
  Object.assign(video, { play, pause })
  vi.clearAllMocks()
  const left = new AbortController()
  onTestFinished(() => left.abort())
  playback = new Playback(video, new Playlist('http://127.0.0.1/playlist.m3u8'), left.signal)
  video.dispatchEvent(new Event('loadedmetadata'))
})

test.each<[Command, number]>([
  [{ name: 'seek by', seconds: 10 }, 40],
  [{ name: 'seek by', seconds: -40 }, 0],
  [{ name: 'seek by', seconds: 40 }, 60],
  [{ name: 'seek to', tenth: 0 }, 0],
  [{ name: 'seek to', tenth: 9 }, 54],
  [{ name: 'step', frames: 1 }, 30 + 1 / 30],
  [{ name: 'step', frames: -1 }, 30 - 1 / 30],
])('%j seeks to %d', (command, seconds) => {
  expect(runCommand(command, playback)).toBe(true)
  expect(facts.currentTime).toBeCloseTo(seconds)
})

test('steps by frames only while paused', () => {
  facts.paused = false
  runCommand({ name: 'step', frames: 1 }, playback)
  expect(facts.currentTime).toBe(30)
})

test('does not seek before the duration is known', () => {
  facts.readyState = 0
  video.dispatchEvent(new Event('emptied'))
  runCommand({ name: 'seek by', seconds: 10 }, playback)
  expect(facts.currentTime).toBe(30)
})

test('plays, pauses and mutes', () => {
  runCommand({ name: 'toggle' }, playback)
  expect(play).toHaveBeenCalledOnce()
  facts.paused = false
  runCommand({ name: 'toggle' }, playback)
  expect(pause).toHaveBeenCalledOnce()
  runCommand({ name: 'mute' }, playback)
  expect(video.muted).toBe(true)
})

test('leaves the commands of the page to the page', () => {
  for (const name of ['theatre', 'help', 'next', 'previous'] as const) {
    expect(runCommand({ name }, playback)).toBe(false)
  }
})

test.each([
  [1, 'faster', 1.25],
  [1, 'slower', 0.75],
  [2, 'faster', 2],
  [0.5, 'slower', 0.5],
  // From the browser's own menu.
  [1.1, 'faster', 1.25],
  [4, 'slower', 2],
] as const)('from %d, %s is %d', (rate, direction, next) => {
  expect(nextRate(rate, direction)).toBe(next)
})

test('jumps to just before the live edge, and plays', () => {
  jumpToLive(playback)
  expect(facts.currentTime).toBe(30)
  playback.report({ type: 'listed', edgeSeconds: 58 })
  jumpToLive(playback)
  expect(facts.currentTime).toBe(52)
  expect(play).toHaveBeenCalledOnce()
})

test('returns to normal speed at the live edge, not before', () => {
  slowDownAtEdge(playback)
  playback.report({ type: 'listed', edgeSeconds: 60 })
  video.playbackRate = 2
  video.dispatchEvent(new Event('timeupdate'))
  expect(video.playbackRate).toBe(2)
  facts.currentTime = 58
  video.dispatchEvent(new Event('timeupdate'))
  expect(video.playbackRate).toBe(1)
})

test('keeps the speed at the end of a finished session', () => {
  slowDownAtEdge(playback)
  video.playbackRate = 2
  facts.currentTime = 59
  video.dispatchEvent(new Event('timeupdate'))
  expect(video.playbackRate).toBe(2)
})
