import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { segmentIv } from '../../delivery/encryption.ts'
import {
  HEIGHTS,
  initFileName,
  MAIN,
  parseFileName,
  playlistFileName,
  renditionNumber,
  segmentFileName,
  subtitleFileName,
} from './segment-names.ts'
import type { Rendition, SegmentNumber } from './segment-names.ts'

const AUDIO: Rendition = { kind: 'audio', number: 2 }
const SOUND: Rendition = { kind: 'audio', number: 0 }
const SAVER: Rendition = { kind: 'saver', number: 0 }
const ENCODED: Rendition = { kind: 'encoded', height: 480, number: 0 }
const MUXED: Rendition = { kind: 'muxed', number: 2 }
const SUBTITLES: Rendition = { kind: 'subtitles', id: '0' }
const SIDECAR: Rendition = { kind: 'subtitles', id: '1-0123abcd' }

describe('parseFileName', () => {
  it('parses every name that playlists contain', () => {
    for (const [rendition, form] of [
      [MAIN, 'ts'],
      [MAIN, 'fmp4'],
      [AUDIO, 'fmp4'],
      [SOUND, 'fmp4'],
      [SAVER, 'fmp4'],
      [ENCODED, 'fmp4'],
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
      [SOUND, 'fmp4'],
      [SAVER, 'fmp4'],
      [ENCODED, 'fmp4'],
      [MUXED, 'fmp4'],
    ] as const)
      expect(parseFileName(initFileName(7, form, rendition))).toEqual({
        kind: 'init',
        rendition,
        segmentNumber: 7,
        form,
      })
    for (const rendition of [MAIN, AUDIO, SOUND, SAVER, ENCODED, MUXED, SUBTITLES, SIDECAR])
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
    'm0-1.m4s',
    's01-1.m4s',
    'a01-1.m4s',
    'a1-1.vtt',
    't0-1.ts',
    't-1.vtt',
    't0-0123ABCD-1.vtt',
    'main-0.m3u8',
    'saver.m3u8',
    'm1-1.vtt',
    'text-.m3u8',
    'playlist.m3u8',
  ])('rejects %j', (name) => {
    expect(parseFileName(name)).toBeUndefined()
  })
})

describe('for any segment', () => {
  const number = fc.oneof(fc.nat(12), fc.nat(9_999_999))
  const track = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 999 }))
  const rendition = fc.oneof(
    fc.constant(MAIN),
    fc.record({ kind: fc.constantFrom('audio', 'muxed'), number: track }),
    fc.record({ kind: fc.constantFrom('audio', 'saver'), number: fc.nat(999) }),
  )
  const tailBytes = fc.oneof(fc.nat(12), fc.nat(999_999_999_999_999)).map((bytes) => bytes + 1)
  const address = fc.record(
    { number, rendition, tailBytes: tailBytes.filter((bytes) => bytes < 1e15) },
    { requiredKeys: ['number', 'rendition'] },
  )

  it('its name is parsed as it was formatted, and another one has another name and IV', () => {
    const nameOf = (one: SegmentNumber & { rendition: Rendition }) =>
      segmentFileName(one, 'fmp4', one.rendition)
    const ivOf = (one: SegmentNumber & { rendition: Rendition }) =>
      segmentIv({ ...one, rendition: renditionNumber(one.rendition) }).toString('hex')
    fc.assert(
      fc.property(fc.array(address, { minLength: 1, maxLength: 20 }), (addresses) => {
        for (const one of addresses) {
          const parsed = parseFileName(nameOf(one))
          expect(parsed).toEqual({ kind: 'segment', form: 'fmp4', ...one })
        }
        const names = new Set(addresses.map(nameOf))
        const distinct = new Set(
          addresses.map((one) => JSON.stringify([one.number, one.rendition, one.tailBytes ?? 0])),
        )
        expect([names.size, new Set(addresses.map(ivOf)).size]).toEqual([
          distinct.size,
          distinct.size,
        ])
      }),
    )
  })

  it('its rendition has a number of its own, which is the same in every release', () => {
    const tracks = Array.from({ length: 999 }, (_, i) => i + 1)
    const numbers = (['audio', 'muxed', 'saver'] as const).flatMap((kind) =>
      tracks.map((each) => renditionNumber({ kind, number: each })),
    )
    const encoded = HEIGHTS.flatMap((height) =>
      [0, ...tracks].map((number) => renditionNumber({ kind: 'encoded', height, number })),
    )
    const first = [MAIN, SOUND, SAVER]
    expect(new Set([...numbers, ...encoded, ...first.map(renditionNumber)]).size).toBe(6000)
    expect([...first, AUDIO, MUXED, ENCODED].map(renditionNumber)).toEqual([
      0, 0x3_0000, 0x2_0000, 2, 0x1_0002, 0xb_8000,
    ])
  })

  it('a file with all cues is parsed as it was formatted', () => {
    for (const id of ['0', '12', '1-0123abcd'])
      expect(parseFileName(subtitleFileName(id))).toEqual({ kind: 'subtitles', id })
  })
})
