// @vitest-environment jsdom
import { fireEvent, render, screen } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Playback } from '../playback/playback.ts'
import { Playlist } from '../playback/playlist.ts'
import { ChatLog } from './chat-log.tsx'
import { ChatSource } from './chat-source.ts'

test('stops where the wheel turns up, although a message keeps the list from moving', () => {
  // jsdom has none.
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe() {}
      disconnect() {}
    },
  )
  onTestFinished(() => void vi.unstubAllGlobals())
  const playlist = new Playlist('https://a.example/playlist.m3u8')
  const { signal } = new AbortController()
  const playback = new Playback(document.createElement('video'), playlist, signal)
  const source = new ChatSource('https://a.example/chat/index.json')
  const row = {
    offsetSeconds: 0,
    emotes: undefined,
    onSeek: () => undefined,
    onUser: () => undefined,
  }
  render(<ChatLog playback={playback} source={source} offsetSeconds={0} row={row} />)
  const log = screen.getByRole('log')
  const jump = () => screen.queryByRole('button', { name: 'Jump to now' })
  fireEvent.wheel(log, { deltaY: -100 })
  expect(jump()).toBeNull()
  log.scrollTop = 400
  for (const turn of [{ deltaY: 100 }, { deltaY: -100, ctrlKey: true }]) {
    fireEvent.wheel(log, turn)
    expect(jump()).toBeNull()
  }
  fireEvent.wheel(log, { deltaY: -100 })
  expect(jump()).not.toBeNull()
})
