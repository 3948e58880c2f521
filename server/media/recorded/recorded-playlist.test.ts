import { expect, test } from 'vitest'
import { UnplayableError } from '../../base/errors.ts'
import { parseRecordedPlaylist } from './recorded-playlist.ts'
import type { RecordedPlaylist } from './recorded-playlist.ts'

function media(...lines: string[]): RecordedPlaylist {
  return parseRecordedPlaylist(
    ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:6', ...lines, ''].join('\n'),
  )
}

function names(playlist: RecordedPlaylist): string[][] {
  if (playlist.kind !== 'media') throw new Error('a media playlist was expected')
  return playlist.runs.map(({ segments }) => segments.map(({ name }) => name))
}

test('returns the segments of a plain playlist as one run', () => {
  expect(
    names(media('#EXTINF:6,', 'a.ts', '#EXTINF:5.5,', 'sub/b%20c.ts', '#EXT-X-ENDLIST')),
  ).toEqual([['a.ts', 'sub/b c.ts']])
})

test.each([
  ['a discontinuity', '#EXT-X-DISCONTINUITY', '#EXTINF:6,'],
  ['another map', '#EXT-X-MAP:URI="init.mp4"', '#EXTINF:6,'],
])('starts a run at %s', (_name, ...lines) => {
  expect(names(media('#EXTINF:6,', 'a.ts', ...lines, 'b.ts'))).toEqual([['a.ts'], ['b.ts']])
})

test('skips segments marked as a gap, and starts a run after them', () => {
  const lines = ['#EXTINF:6,', 'a.ts', '#EXT-X-GAP', '#EXTINF:6,', 'b.ts', '#EXTINF:6,', 'c.ts']
  expect(names(media(...lines))).toEqual([['a.ts'], ['c.ts']])
})

test('returns byte ranges; one without an offset follows the previous one', () => {
  const lines = [
    '#EXTINF:6,',
    '#EXT-X-BYTERANGE:100@0',
    'a.ts',
    '#EXTINF:6,',
    '#EXT-X-BYTERANGE:50',
    'a.ts',
  ]
  expect(media('#EXT-X-MAP:URI="i.mp4",BYTERANGE="10@5"', ...lines)).toEqual({
    kind: 'media',
    runs: [
      {
        map: { name: 'i.mp4', byteRange: { offset: 5, length: 10 } },
        segments: [
          { name: 'a.ts', byteRange: { offset: 0, length: 100 } },
          { name: 'a.ts', byteRange: { offset: 100, length: 50 } },
        ],
      },
    ],
  })
})

test('returns keys and IVs; without an IV the media sequence number is used', () => {
  const playlist = media(
    '#EXT-X-MEDIA-SEQUENCE:258',
    '#EXT-X-KEY:METHOD=AES-128,URI="key.bin"',
    '#EXTINF:6,',
    'a.ts',
    '#EXT-X-KEY:METHOD=AES-128,URI="key.bin",IV=0x000102030405060708090A0B0C0D0E0F',
    '#EXTINF:6,',
    'b.ts',
    '#EXT-X-KEY:METHOD=NONE',
    '#EXTINF:6,',
    'c.ts',
  )
  const segments = playlist.kind === 'media' ? (playlist.runs[0]?.segments ?? []) : []
  expect(
    segments.map(({ encryption }) => encryption && Buffer.from(encryption.iv).toString('hex')),
  ).toEqual(['00000000000000000000000000000102', '000102030405060708090a0b0c0d0e0f', undefined])
})

test('returns the start of a run if the playlist has it', () => {
  const line = '#EXT-X-PROGRAM-DATE-TIME:2026-01-31T20:15:00.000Z'
  expect(media(line, '#EXTINF:6,', 'a.ts')).toMatchObject({
    runs: [{ startMs: Date.UTC(2026, 0, 31, 20, 15) }],
  })
})

test('chooses the variant with the highest bandwidth', () => {
  const lines = [
    '#EXTM3U',
    '#EXT-X-STREAM-INF:BANDWIDTH=100',
    'low/index.m3u8',
    '#EXT-X-STREAM-INF:BANDWIDTH=300',
    'high/index.m3u8',
    '',
  ]
  expect(parseRecordedPlaylist(lines.join('\n'))).toEqual({
    kind: 'multivariant',
    name: 'high/index.m3u8',
  })
})

test.each([
  ['a path above the folder', '../a.ts', 'outside-folder'],
  ['an encoded path above the folder', '%2e%2e/a.ts', 'outside-folder'],
  ['encoded slashes', '..%2f..%2fetc%2fpasswd', 'outside-folder'],
  ['an absolute path', '/etc/passwd', 'outside-folder'],
  ['an address', 'http://example.org/a.ts', 'url'],
  ['an address without scheme', '//example.org/a.ts', 'url'],
  ['a file address', 'file:///etc/passwd', 'url'],
  ['a backslash', '..\\a.ts', 'outside-folder'],
  ['a hidden file', '.secret/a.ts', 'hidden'],
  ['a NUL', 'a%00.ts', 'malformed'],
] as const)('rejects %s', (_name, uri, defect) => {
  const error = new UnplayableError({ code: 'playlist-name-rejected', defect })
  expect(() => media('#EXTINF:6,', uri)).toThrow(error)
  expect(() => media(`#EXT-X-MAP:URI="${uri}"`, '#EXTINF:6,', 'a.m4s')).toThrow(error)
  expect(() => media(`#EXT-X-KEY:METHOD=AES-128,URI="${uri}"`, '#EXTINF:6,', 'a.ts')).toThrow(error)
})

test('rejects a map without a name', () => {
  const error = new UnplayableError({ code: 'playlist-name-rejected', defect: 'empty' })
  expect(() => media('#EXT-X-MAP:BYTERANGE="4@0"', '#EXTINF:6,', 'a.m4s')).toThrow(error)
})

test.each([
  ['no playlist', 'hello', { code: 'playlist-invalid', defect: 'not-a-playlist' }],
  ['an empty file', '', { code: 'playlist-invalid', defect: 'not-a-playlist' }],
  [
    'no segments',
    '#EXTM3U\n#EXT-X-TARGETDURATION:6\n',
    { code: 'playlist-invalid', defect: 'no-segments' },
  ],
  [
    'variables',
    '#EXTM3U\n#EXT-X-DEFINE:NAME="x",VALUE="y"\n#EXTINF:6,\n{$x}.ts\n',
    { code: 'playlist-feature-unsupported', feature: 'variables' },
  ],
  [
    'sample encryption',
    '#EXTM3U\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"\n#EXTINF:6,\na.ts\n',
    { code: 'segment-encryption-unsupported', method: 'SAMPLE-AES' },
  ],
  [
    'a range that makes no sense',
    '#EXTM3U\n#EXTINF:6,\n#EXT-X-BYTERANGE:5@-9\na.ts\n',
    { code: 'playlist-invalid', defect: 'byte-range-invalid' },
  ],
])('rejects %s', (_name, text, reason) => {
  expect(() => parseRecordedPlaylist(text)).toThrow(
    expect.objectContaining({ code: 'unplayable', reason }),
  )
})

test('removes a query from a name', () => {
  expect(names(media('#EXTINF:6,', 'a.ts?token=1'))).toEqual([['a.ts']])
})
