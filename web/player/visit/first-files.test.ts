import { expect, it } from 'vitest'
import { firstFiles } from './first-files.ts'

it('finds key, init segment and first segment of a media playlist', () => {
  const playlist = [
    '#EXTM3U',
    '#EXT-X-TARGETDURATION:6',
    '#EXT-X-KEY:METHOD=AES-128,URI="v/key",IV=0x0',
    '#EXT-X-MAP:URI="v/init-0.mp4"',
    '#EXTINF:2,',
    'v/0.m4s',
    '#EXT-X-KEY:METHOD=AES-128,URI="v/key",IV=0x1',
    '#EXTINF:4,',
    'v/1.m4s',
  ]
  expect(firstFiles(playlist.join('\n'))).toEqual(['v/key', 'v/init-0.mp4', 'v/0.m4s'])
})

it('finds the first playlist of a multivariant one', () => {
  const playlist = ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', 'v/video.m3u8', '']
  expect(firstFiles(playlist.join('\n'))).toEqual(['v/video.m3u8'])
})

it('finds nothing in an empty playlist', () => {
  expect(firstFiles('#EXTM3U\n#EXT-X-TARGETDURATION:6\n')).toEqual([])
})
