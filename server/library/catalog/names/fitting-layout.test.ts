// Which layout is suggested for recordings that match no session.
import { expect, it } from 'vitest'
import { findFittingLayout } from './fitting-layout.ts'
import type { RecordingPath } from './fitting-layout.ts'

const files = (...paths: string[]): RecordingPath[] => paths.map((path) => ({ path, kind: 'file' }))

it.each([
  ['obs', 'alice/2026-01-31 20-15-07.mkv'],
  ['obs', '2026-01-31 20-15-07.mkv'],
  ['streamlink', 'al_ice_2026-01-31_20-15-07.ts'],
  ['ganymede', 'alice/2026-01-31-42-live-0a1b/42-video.mp4'],
  ['mediamtx', 'recordings/live/alice/2026-01-31_20-15-07-123456.mp4'],
  ['srs', 'live/alice.1769890507123.flv'],
  ['bililive', 'Bili/alice/[2026-01-31 20-15-07][alice][title].flv'],
  ['yt-dlp', 'alice/Show [v1].mp4'],
  ['{streamer}/{date}/{sessionId}', 'alice/2026-01-31/1001.ts'],
  ['{streamer}/{date}/{sessionId}', 'alice/2026-01-31/late-night/part1.ts'],
])('finds %s for %s', (layout, path) => {
  expect(findFittingLayout(files(path), 'library')).toEqual({ layout, matches: 1 })
})

it('finds the layout of a recorder’s playlist folder', () => {
  const path = 'alice/2026-01-31-42-live-0a1b/42-video_hls'
  expect(findFittingLayout([{ path, kind: 'folder' }], 'library')?.layout).toBe('ganymede')
})

it('prefers a layout with dates to one that matches more', () => {
  const recordings = files(
    'alice/2026-01-31 20-15-07.mkv',
    'alice/2026-02-01 20-15-07.mkv',
    'alice/intro.mkv',
  )
  expect(findFittingLayout(recordings, 'library')).toEqual({ layout: 'obs', matches: 2 })
})

it('finds none where nothing fits', () => {
  expect(findFittingLayout(files('a/b/c/d/e/f/g/h.mp4'), 'library')).toBeUndefined()
  expect(findFittingLayout([], 'library')).toBeUndefined()
})
