// @vitest-environment jsdom
import { expect, onTestFinished, test, vi } from 'vitest'
import { Playback } from '../playback/playback.ts'
import { Playlist } from '../playback/playlist.ts'
import { ChatSource } from './chat-source.ts'
import { followPlayback } from './follow-playback.ts'

test('shows the position of the last of several seeks at once, while paused', async () => {
  const left = new AbortController()
  onTestFinished(() => {
    left.abort()
    vi.unstubAllGlobals()
  })
  const index = { version: 'a', bucketSeconds: 60, counts: [10], total: 10, growing: false }
  const messages = Array.from({ length: 10 }, (_, t) => ({ t, user: 'Bob', text: 'hi' }))
  vi.stubGlobal('fetch', async (requested: string) => {
    const body = requested.endsWith('/index.json') ? index : { messages }
    return new Response(JSON.stringify(body))
  })
  const video = document.createElement('video')
  const playback = new Playback(video, new Playlist('http://127.0.0.1/playlist.m3u8'), left.signal)
  const source = new ChatSource('https://a.example/api/chat/Alice/2026-01-31/7/index.json')
  let lastSecond: number | undefined
  const stops = [
    source.open(playback),
    followPlayback({
      playback,
      source,
      offsetSeconds: 0,
      onMessages: (shown) => void (lastSecond = shown.at(-1)?.t),
    }),
  ]
  const seek = (seconds: number): void => {
    video.currentTime = seconds
    video.dispatchEvent(new Event('seeking'))
  }
  seek(4)
  await expect.poll(() => lastSecond).toBe(4)
  seek(6)
  seek(8)
  expect(lastSecond).toBe(8)
  for (const stop of stops) stop()
})
