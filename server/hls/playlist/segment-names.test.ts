import { describe, expect, it } from 'vitest'
import {
  initFileName,
  MAIN,
  parseFileName,
  playlistFileName,
  segmentFileName,
} from './segment-names.ts'
import type { Rendition } from './segment-names.ts'

const AUDIO: Rendition = { kind: 'audio', number: 2 }
const MUXED: Rendition = { kind: 'muxed', number: 2 }
const SUBTITLES: Rendition = { kind: 'subtitles', id: '0' }
const SIDECAR: Rendition = { kind: 'subtitles', id: '1-0123abcd' }

describe('parseFileName', () => {
  it('parses every name that playlists contain', () => {
    for (const [rendition, form] of [
      [MAIN, 'ts'],
      [MAIN, 'fmp4'],
      [AUDIO, 'fmp4'],
      [MUXED, 'fmp4'],
      [SUBTITLES, 'vtt'],
      [SIDECAR, 'vtt'],
    ] as const)
      expect(parseFileName(segmentFileName({ number: 12 }, form, rendition))).toEqual({
        kind: 'segment',
        rendition,
        number: 12,
        form,
      })
    for (const [rendition, form] of [
      [MAIN, 'ts'],
      [MAIN, 'fmp4'],
      [AUDIO, 'fmp4'],
      [MUXED, 'fmp4'],
    ] as const)
      expect(parseFileName(initFileName(7, form, rendition))).toEqual({
        kind: 'init',
        rendition,
        segmentNumber: 7,
        form,
      })
    for (const rendition of [MAIN, AUDIO, MUXED, SUBTITLES, SIDECAR])
      expect(parseFileName(playlistFileName(rendition))).toEqual({
        kind: 'playlist',
        rendition,
      })
    for (const rendition of [SUBTITLES, SIDECAR]) {
      const name = segmentFileName({ number: 9_999_999, tailBytes: 12_345_678 }, 'vtt', rendition)
      expect(parseFileName(name)).toMatchObject({
        rendition,
        number: 9_999_999,
        tailBytes: 12_345_678,
      })
    }
    expect(parseFileName(segmentFileName({ number: 0, tailBytes: 188 }, 'ts'))).toEqual({
      kind: 'segment',
      rendition: MAIN,
      form: 'ts',
      number: 0,
      tailBytes: 188,
    })
    expect(parseFileName('key')).toEqual({ kind: 'key' })
  })

  it.each([
    '',
    '01.ts',
    '-1.ts',
    '1.mp4',
    'init.mp4',
    'init-00.mp4',
    '1e3.ts',
    '9999999999.ts',
    'key.txt',
    '1.ts\n',
    'a0-1.m4s',
    'a01-1.m4s',
    'a1-1.vtt',
    't0-1.ts',
    't-1.vtt',
    't0-0123ABCD-1.vtt',
    'audio-0.m3u8',
    'main-0.m3u8',
    'm0-1.m4s',
    'm1-1.vtt',
    'text-.m3u8',
    'playlist.m3u8',
  ])('rejects %j', (name) => {
    expect(parseFileName(name)).toBeUndefined()
  })
})
