// @vitest-environment jsdom
import { expect, onTestFinished, test, vi } from 'vitest'
import { Playback } from './playback.ts'
import { Playlist } from './playlist.ts'

/** A store over an element whose facts a test sets; jsdom has no media engine. */
function observe(facts: Record<string, unknown>) {
  const video = document.createElement('video')
  const left = new AbortController()
  onTestFinished(() => left.abort())
  for (const name of Object.keys(facts)) {
    Object.defineProperty(video, name, { get: () => facts[name] })
  }
  return {
    video,
    left,
    playback: new Playback(video, new Playlist('http://127.0.0.1/playlist.m3u8'), left.signal),
  }
}

test('reads the element on its events, and notifies once per change', () => {
  const facts = { readyState: 4, duration: 60, currentTime: 3, paused: false, ended: false }
  const { video, playback } = observe(facts)
  video.dispatchEvent(new Event('loadedmetadata'))
  facts.currentTime = 3.5
  const onChange = vi.fn<() => void>()
  const unsubscribe = playback.subscribe(onChange)
  video.dispatchEvent(new Event('timeupdate'))
  video.dispatchEvent(new Event('timeupdate'))
  expect(onChange).toHaveBeenCalledOnce()
  expect(playback.read()).toMatchObject({
    positionSeconds: 3.5,
    durationSeconds: 60,
    phase: 'open',
  })
  facts.currentTime = 4
  unsubscribe()
  video.dispatchEvent(new Event('timeupdate'))
  expect(onChange).toHaveBeenCalledOnce()
  expect(playback.read().positionSeconds).toBe(4)
})

test('has a duration from the event of the metadata on, until the element is emptied', () => {
  const { video, playback } = observe({ readyState: 4, duration: 60 })
  const durations = ['durationchange', 'loadedmetadata', 'timeupdate', 'emptied'].map((type) => {
    video.dispatchEvent(new Event(type))
    return playback.read().durationSeconds
  })
  expect(durations).toEqual([undefined, 60, 60, undefined])
})

test('is stalled while it plays without data', () => {
  const facts = { readyState: 2, paused: false, ended: false }
  const { video, playback } = observe(facts)
  video.dispatchEvent(new Event('waiting'))
  expect(playback.read().isStalled).toBe(true)
  facts.readyState = 3
  video.dispatchEvent(new Event('playing'))
  expect(playback.read().isStalled).toBe(false)
})

test('takes reports of the engine', () => {
  const { playback } = observe({})
  playback.report({ type: 'refused', refusal: 'missing' })
  expect(playback.read().phase).toBe('missing')
})

test('neither reads nor notifies after the session has ended', () => {
  const facts = { readyState: 4, currentTime: 3 }
  const { video, left, playback } = observe(facts)
  const onChange = vi.fn<() => void>()
  playback.subscribe(onChange)
  left.abort()
  video.dispatchEvent(new Event('timeupdate'))
  playback.report({ type: 'loaded' })
  expect(onChange).not.toHaveBeenCalled()
  expect(playback.read().positionSeconds).toBe(0)
})
