// The fMP4 init segment: ftyp and a moov without samples (ISO/IEC 14496-12 8.16.1, RFC 8216 3.3).
import type { InitTrack } from '../../../media/media-reader.ts'
import {
  ascii,
  box,
  fullBox,
  int32,
  uint16,
  uint32,
  zeros,
} from '../../../media/codec/write-box.ts'

/** Track ids in init and media segments, which have at most one track of each kind. */
export const TRACK_IDS = { video: 1, audio: 2 } as const

const MOVIE_TIMESCALE = 1000
const IDENTITY_MATRIX = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000]
const LANGUAGE_UND = 0x55c4

/**
 * The init segment for the tracks, in their order.
 *
 * @param durationSeconds of all fragments; a playlist has it, a file of its own must state it
 */
export function formatInitSegment(
  tracks: readonly InitTrack[],
  durationSeconds?: number,
): Uint8Array {
  const header = durationSeconds === undefined ? [] : [fragmentsHeader(durationSeconds)]
  return Buffer.concat([
    box('ftyp', ascii('iso6'), uint32(0x200), ascii('iso6cmfcmp41')),
    box('moov', movieHeader(), tracks.map(trackBox), box('mvex', header, tracks.map(trackExtends))),
  ])
}

/** ISO/IEC 14496-12 8.8.2. Version 1 is for more than 49 days. */
function fragmentsHeader(durationSeconds: number): Uint8Array {
  const duration = Math.round(durationSeconds * MOVIE_TIMESCALE)
  const [high, low] = [Math.floor(duration / 0x100000000), duration % 0x100000000]
  return high === 0
    ? fullBox('mehd', {}, uint32(low))
    : fullBox('mehd', { version: 1 }, uint32(high, low))
}

function movieHeader(): Uint8Array {
  return fullBox(
    'mvhd',
    {},
    uint32(0, 0, MOVIE_TIMESCALE, 0, 0x10000),
    uint16(0x100, 0),
    zeros(8),
    int32(IDENTITY_MATRIX),
    zeros(24),
    uint32(Math.max(...Object.values(TRACK_IDS)) + 1),
  )
}

function trackBox(track: InitTrack): Uint8Array {
  return box('trak', trackHeader(track), mediaBox(track))
}

function trackHeader(track: InitTrack): Uint8Array {
  const volume = track.kind === 'audio' ? 0x100 : 0
  return fullBox(
    'tkhd',
    { flags: 7 },
    uint32(0, 0, TRACK_IDS[track.kind], 0, 0),
    zeros(8),
    uint16(0, 0, volume, 0),
    int32(track.matrix ?? IDENTITY_MATRIX),
    uint32(fixedPoint(track.width), fixedPoint(track.height)),
  )
}

/** 16.16 fixed point, as in tkhd. */
function fixedPoint(pixels: number): number {
  return Math.min(Math.round(pixels * 0x10000), 0xffffffff)
}

function mediaBox(track: InitTrack): Uint8Array {
  const isVideo = track.kind === 'video'
  return box(
    'mdia',
    fullBox('mdhd', {}, uint32(0, 0, track.timescale, 0), uint16(LANGUAGE_UND, 0)),
    fullBox(
      'hdlr',
      {},
      uint32(0),
      ascii(isVideo ? 'vide' : 'soun'),
      zeros(12),
      ascii(isVideo ? 'video\0' : 'audio\0'),
    ),
    box(
      'minf',
      isVideo ? fullBox('vmhd', { flags: 1 }, zeros(8)) : fullBox('smhd', {}, zeros(4)),
      box('dinf', fullBox('dref', {}, uint32(1), fullBox('url ', { flags: 1 }))),
      emptySampleTable(track.sampleEntry),
    ),
  )
}

function emptySampleTable(sampleEntry: Uint8Array): Uint8Array {
  return box(
    'stbl',
    fullBox('stsd', {}, uint32(1), sampleEntry),
    fullBox('stts', {}, uint32(0)),
    fullBox('stsc', {}, uint32(0)),
    fullBox('stsz', {}, uint32(0, 0)),
    fullBox('stco', {}, uint32(0)),
  )
}

function trackExtends(track: InitTrack): Uint8Array {
  return fullBox('trex', {}, uint32(TRACK_IDS[track.kind], 1, 0, 0, 0))
}
