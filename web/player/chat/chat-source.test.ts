// @vitest-environment jsdom
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { Playback } from '../playback/playback.ts'
import { Playlist } from '../playback/playlist.ts'
import { ChatSource } from './chat-source.ts'

const url = 'https://a.example/api/chat/Alice/2026-01-31/7/index.json'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** A chat whose index has the current version; buckets of others are 404. */
function openChat(chat: { version: string; served: string; growing: boolean; status?: number }) {
  const video = document.createElement('video')
  const left = new AbortController()
  onTestFinished(() => left.abort())
  const playback = new Playback(video, new Playlist('http://127.0.0.1/playlist.m3u8'), left.signal)
  const requests: string[] = []
  vi.stubGlobal('fetch', async (requested: string) => {
    const path = requested.slice(url.lastIndexOf('/') + 1)
    requests.push(path)
    if (path === 'index.json') {
      const { version, growing, status = 200 } = chat
      const index = { version, bucketSeconds: 60, counts: [1], total: 1, growing }
      return new Response(JSON.stringify(index), { status })
    }
    const status = path === `${chat.served}/0.json` ? 200 : 404
    const messages = [{ t: 1, user: 'Bob', text: 'hi' }]
    return new Response(JSON.stringify({ messages }), { status })
  })
  const source = new ChatSource(url)
  const close = source.open(playback)
  const play = async (seconds: number) => {
    await vi.advanceTimersByTimeAsync(seconds * 1000)
    video.currentTime = performance.now() / 1000
    video.dispatchEvent(new Event('timeupdate'))
    await vi.advanceTimersByTimeAsync(0)
  }
  return { source, playback, requests, close, play, signal: left.signal }
}

test('loads the index of a growing chat again while the session plays', async () => {
  const chat = { version: 'a', served: 'a', growing: true }
  const { source, requests, close, play } = openChat(chat)
  await play(1)
  expect(source.read()).toMatchObject({ status: 'loaded', value: { version: 'a' } })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(requests).toHaveLength(1)
  chat.version = 'b'
  await play(1)
  expect(requests).toHaveLength(2)
  expect(source.read()).toMatchObject({ value: { version: 'b' } })
  chat.growing = false
  await play(4)
  await play(4)
  expect(requests).toHaveLength(3)
  close()
})

test('takes the version of the index again if a bucket is gone', async () => {
  const chat = { version: 'a', served: 'b', growing: false }
  const { source, requests, play, signal } = openChat(chat)
  await play(1)
  const messages = source.bucket(0, signal)
  await vi.advanceTimersByTimeAsync(1)
  chat.version = 'b'
  await vi.advanceTimersByTimeAsync(5000)
  expect(await messages).toMatchObject([{ text: 'hi', user: 'Bob' }])
  expect(requests).toEqual(['index.json', 'a/0.json', 'index.json', 'b/0.json'])
})

test('gives up a bucket that stays away', async () => {
  const { source, requests, play, signal } = openChat({
    version: 'a',
    served: 'b',
    growing: false,
  })
  await play(1)
  const outcome = source.bucket(0, signal).catch(String)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await outcome).toContain('a/0.json')
  expect(requests.filter((path) => path === 'a/0.json')).toHaveLength(6)
})

test('waits for a chat that the server still reads', async () => {
  const chat = { version: 'a', served: 'a', growing: false, status: 503 }
  const { source, play } = openChat(chat)
  await play(1)
  expect(source.read()).toEqual({ status: 'loading' })
  chat.status = 200
  await vi.advanceTimersByTimeAsync(5000)
  expect(source.read()).toMatchObject({ status: 'loaded' })
})

test('reports a chat that cannot be loaded', async () => {
  const { source } = openChat({ version: 'a', served: 'a', growing: false, status: 503 })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(source.read()).toEqual({ status: 'failed' })
})

test('reports at once that the files of a session are no chat, unless it is recorded', async () => {
  const { source, requests } = openChat({ version: '', served: '', growing: false, status: 404 })
  await vi.advanceTimersByTimeAsync(0)
  expect(source.read()).toEqual({ status: 'failed' })
  expect(requests).toHaveLength(1)

  const chat = { version: 'a', served: 'a', growing: true, status: 404 }
  const live = openChat(chat)
  live.playback.report({ type: 'listed', edgeSeconds: 60 })
  await vi.advanceTimersByTimeAsync(0)
  chat.status = 200
  await vi.advanceTimersByTimeAsync(5000)
  expect(live.source.read()).toMatchObject({ status: 'loaded' })
})
