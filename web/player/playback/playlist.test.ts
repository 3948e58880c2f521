import { expect, test, vi } from 'vitest'
import { ORIGINAL, Playlist } from './playlist.ts'

test('names what differs from the default in its URL', () => {
  expect(new Playlist('/a.m3u8').url).toBe('/a.m3u8')
  expect(new Playlist('/a.m3u8', { audio: 'en.2' }).url).toBe('/a.m3u8?audio=en.2')
  const playlist = new Playlist('/a.m3u8', { audio: 'de', quality: 'audio' })
  expect(playlist.url).toBe('/a.m3u8?audio=de&quality=audio')
  expect(playlist.hasPicture).toBe(false)
  playlist.select({ quality: 'saver' })
  expect(playlist.url).toBe('/a.m3u8?audio=de&quality=saver')
  expect(playlist.hasPicture).toBe(true)
})

test('takes a missing playlist for a missing quality, once', () => {
  const playlist = new Playlist('/a.m3u8', { audio: 'de', quality: 'saver' })
  playlist.onChange = vi.fn<() => void>()
  expect(playlist.mayLackQuality(503)).toBe(false)
  expect(playlist.mayLackQuality(404)).toBe(true)
  playlist.select(ORIGINAL)
  expect(playlist.url).toBe('/a.m3u8?audio=de')
  expect(playlist.onChange).toHaveBeenCalledOnce()
  expect(playlist.mayLackQuality(404)).toBe(false)
})
