// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest'
import { Playback } from '../playback/playback.ts'
import { Playlist } from '../playback/playlist.ts'
import { ChatSource } from './chat-source.ts'
import { NO_FINDINGS, searchChat } from './search-chat.ts'
import type { ChatFindings } from './search-chat.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('continues where a minute could not be loaded', async () => {
  vi.useFakeTimers()
  const { signal } = new AbortController()
  let isOffline = false
  vi.stubGlobal('fetch', async (url: string) => {
    const name = url.slice(url.lastIndexOf('/') + 1)
    const index = { version: 'a', bucketSeconds: 60, counts: [1, 0, 1, 1], total: 3 }
    if (name === 'index.json') return Response.json({ ...index, growing: false })
    if (isOffline) throw new TypeError('offline')
    return Response.json({ messages: [{ t: 1, user: 'Bob', text: `needle ${name}` }] })
  })
  const playlist = new Playlist('https://a.example/playlist.m3u8')
  const source = new ChatSource('https://a.example/chat/index.json')
  source.open(new Playback(document.createElement('video'), playlist, signal))
  await vi.advanceTimersByTimeAsync(0)

  const search = async (before: ChatFindings): Promise<ChatFindings> => {
    const query = { text: 'needle', user: undefined }
    let last = before
    const done = searchChat({ source, query, before }, signal, (findings) => {
      last = findings
      isOffline = findings.searched === 1
    })
    await vi.advanceTimersByTimeAsync(60_000)
    await done
    return last
  }
  const first = await search(NO_FINDINGS)
  expect(first).toMatchObject({ searched: 1, total: 3, isSearching: false })
  isOffline = false
  const all = await search(first)
  expect(all).toMatchObject({ searched: 3, isSearching: false })
  expect(all.messages.map(({ text }) => text)).toEqual(
    ['0', '2', '3'].map((bucket) => `needle ${bucket}.json`),
  )
})
