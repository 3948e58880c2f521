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

it('finds the files of the segment at a moment', () => {
  const segment = (name: string) => `#EXTINF:2.5,\nv/${name}.m4s\n`
  const playlist = [
    '#EXT-X-KEY:METHOD=AES-128,URI="v/key",IV=0x0\n#EXT-X-MAP:URI="v/init-0.mp4"\n',
    ...['0', '1'].map(segment),
    '#EXT-X-DISCONTINUITY\n#EXT-X-KEY:METHOD=NONE\n#EXT-X-MAP:URI="v/init-1.mp4"\n',
    ...['2', '3'].map(segment),
  ].join('')
  const at = (seconds: number) => firstFiles(playlist, seconds)
  expect(at(0)).toEqual(['v/key', 'v/init-0.mp4', 'v/0.m4s'])
  expect(at(2.4)).toEqual(['v/key', 'v/init-0.mp4', 'v/0.m4s'])
  expect(at(2.5)).toEqual(['v/key', 'v/init-0.mp4', 'v/1.m4s'])
  expect(at(6)).toEqual(['v/init-1.mp4', 'v/2.m4s'])
  expect(at(9.7)).toEqual(['v/init-1.mp4', 'v/3.m4s'])
})

it('finds the files of the first segment for a moment after the end', () => {
  expect(firstFiles('#EXTINF:2,\na.ts\n#EXTINF:2,\nb.ts\n', 60)).toEqual(['a.ts'])
})

it('finds the first playlist of a multivariant one', () => {
  const playlist = ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', 'v/video.m3u8', '']
  expect(firstFiles(playlist.join('\n'))).toEqual(['v/video.m3u8'])
})

it('finds nothing in an empty playlist', () => {
  expect(firstFiles('#EXTM3U\n#EXT-X-TARGETDURATION:6\n')).toEqual([])
})
