// Parses a playlist that a recorder wrote next to its segments, and splits it into runs at
// discontinuities.
import { parse, setOptions, types } from 'hls-parser'
import { UnplayableError, checkLimit } from '../../base/errors.ts'
import type { PlaylistNameDefect } from '../../base/problem.ts'

/** A media segment or map. Names are relative to the playlist's folder. */
export interface RecordedSegment {
  name: string
  /** Undefined for the whole file. */
  byteRange?: ByteRange
  /** AES-128 (CBC, PKCS7) parameters; undefined if the segment is not encrypted. */
  encryption?: { keyName: string; iv: Uint8Array }
}

export interface ByteRange {
  offset: number
  length: number
}

/** Segments without a discontinuity between them. */
export interface RecordedRun {
  /** The EXT-X-MAP of the run, if any. */
  map?: RecordedSegment
  segments: RecordedSegment[]
  /** EXT-X-PROGRAM-DATE-TIME of the first segment, in Unix milliseconds. */
  startMs?: number
}

/** A media playlist, or the name of the media playlist chosen from a multivariant one. */
export type RecordedPlaylist =
  | { kind: 'media'; runs: RecordedRun[] }
  | { kind: 'multivariant'; name: string }

export const MAX_PLAYLIST_BYTES = 32 * 1024 * 1024
const MAX_SEGMENTS = 200_000
const MAX_BYTES = Number.MAX_SAFE_INTEGER

/**
 * Parses a playlist (RFC 8216).
 *
 * @throws UnplayableError with the reason: not a playlist, no segments, a variable, a name
 *   outside of the folder, an encryption other than AES-128
 */
export function parseRecordedPlaylist(text: string): RecordedPlaylist {
  if (!text.trimStart().startsWith('#EXTM3U'))
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'not-a-playlist' })
  // A variable could expand to any name (draft-pantos-hls-rfc8216bis 4.4.2.3).
  if (/^#EXT-X-DEFINE:/m.test(text))
    throw new UnplayableError({ code: 'playlist-feature-unsupported', feature: 'variables' })
  const playlist = parseText(text)
  if (playlist instanceof types.MasterPlaylist) {
    return { kind: 'multivariant', name: chooseVariant(playlist) }
  }
  if (!(playlist instanceof types.MediaPlaylist))
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'not-a-playlist' })
  if (playlist.isIFrame === true)
    throw new UnplayableError({ code: 'playlist-feature-unsupported', feature: 'i-frames-only' })
  checkLimit('playlist-segments', MAX_SEGMENTS, playlist.segments.length)
  const runs = splitIntoRuns(playlist.segments)
  if (runs.length === 0)
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'no-segments' })
  return { kind: 'media', runs }
}

function parseText(text: string): types.MasterPlaylist | types.MediaPlaylist {
  // Recorders violate the specification; what matters is checked here.
  setOptions({ strictMode: false, silent: true })
  try {
    return parse(text)
  } catch (cause) {
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'syntax' }, { cause })
  }
}

/** The variant with the highest bandwidth and with its audio in the same playlist. */
function chooseVariant({ variants }: types.MasterPlaylist): string {
  const [best] = variants
    .filter(({ isIFrameOnly }) => isIFrameOnly !== true)
    .toSorted((a, b) => b.bandwidth - a.bandwidth)
  if (best === undefined)
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'no-variants' })
  if (best.audio.some(({ uri }) => uri !== undefined && uri !== best.uri)) {
    throw new UnplayableError({ code: 'playlist-feature-unsupported', feature: 'separate-audio' })
  }
  return resolveName(best.uri)
}

function splitIntoRuns(segments: readonly types.Segment[]): RecordedRun[] {
  const runs: RecordedRun[] = []
  let before: types.Segment | undefined
  for (const segment of segments) {
    const isGap = segment.gap === true
    if (!isGap) {
      const last = before && continues(before, segment) ? runs.at(-1) : undefined
      if (last === undefined) runs.push(startRun(segment))
      else last.segments.push(toSegment(segment))
    }
    before = isGap ? undefined : segment
  }
  return runs
}

function continues(before: types.Segment, segment: types.Segment): boolean {
  const [map, mapBefore] = [segment.map, before.map]
  return segment.discontinuity !== true && sameMap(mapBefore, map)
}

type Map = types.MediaInitializationSection | null | undefined

function sameMap(a: Map, b: Map): boolean {
  if (!a || !b) return !a && !b
  const isSameRange =
    a.byterange?.offset === b.byterange?.offset && a.byterange?.length === b.byterange?.length
  return a.uri === b.uri && isSameRange
}

function startRun(segment: types.Segment): RecordedRun {
  const map: Map = segment.map
  const startMs = segment.programDateTime?.getTime()
  return {
    ...(map && { map: toMapSegment(map) }),
    segments: [toSegment(segment)],
    ...(startMs !== undefined && Number.isFinite(startMs) && { startMs }),
  }
}

/**
 * Recorders do not encrypt maps, which RFC 8216 4.3.2.5 permits if EXT-X-MAP precedes EXT-X-KEY.
 */
function toMapSegment(map: types.MediaInitializationSection): RecordedSegment {
  return { name: resolveName(map.uri), ...byteRangeOf(map.byterange) }
}

function toSegment(segment: types.Segment): RecordedSegment {
  return {
    name: resolveName(segment.uri),
    ...byteRangeOf(segment.byterange),
    ...encryptionOf(segment),
  }
}

function byteRangeOf(range: types.Byterange | null | undefined): { byteRange?: ByteRange } {
  if (!range) return {}
  const { offset, length } = range
  const isSane = Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length > 0
  if (!isSane || offset + length > MAX_BYTES)
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'byte-range-invalid' })
  return { byteRange: { offset, length } }
}

function encryptionOf({
  key,
  mediaSequenceNumber,
}: types.Segment): Pick<RecordedSegment, 'encryption'> {
  if (!key || key.method === 'NONE') return {}
  if (key.method !== 'AES-128' || (key.format ?? 'identity') !== 'identity') {
    throw new UnplayableError({
      code: 'segment-encryption-unsupported',
      method: printableMethod(key.method),
    })
  }
  if (key.uri === undefined)
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'key-not-named' })
  const iv = key.iv === undefined ? sequenceIv(mediaSequenceNumber) : new Uint8Array(key.iv)
  if (iv.length !== IV_BYTES)
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'iv-invalid' })
  return { encryption: { keyName: resolveName(key.uri), iv } }
}

const IV_BYTES = 16

/** RFC 8216 5.2: without an IV, the media sequence number is the IV. */
function sequenceIv(mediaSequenceNumber: number): Uint8Array {
  const iv = Buffer.alloc(IV_BYTES)
  iv.writeBigUInt64BE(BigInt(Math.max(0, mediaSequenceNumber)), 8)
  return iv
}

/** Methods consist of capital letters; do not echo anything else. */
function printableMethod(method: string): string {
  return /^[A-Z0-9-]{1,32}$/.test(method) ? method : 'an unknown method'
}

const MAX_URI_LENGTH = 4096

/**
 * The file name relative to the playlist's folder, with `/` as its separator.
 *
 * @param uri undefined if the attribute is missing, despite the types of the parser
 * @throws UnplayableError for an absolute URL or path, a name outside of the folder, and a
 *   hidden file
 */
function resolveName(uri = ''): string {
  if (uri.length > MAX_URI_LENGTH) throw rejected('too-long')
  if (/^[a-z][a-z0-9+.-]*:/i.test(uri) || uri.startsWith('//')) {
    throw rejected('url')
  }
  // Recorders that copy the origin's playlist leave the query in the name.
  const [path = ''] = uri.split(/[?#]/)
  if (path === '') throw rejected('empty')
  const parts = decode(path).split('/')
  const plain = parts.filter((part, i) => part !== '.' && (part !== '' || i === 0))
  if (plain.length === 0) throw rejected('folder')
  for (const part of plain) {
    if (part === '' || part === '..' || part.includes('\\')) throw rejected('outside-folder')
    if (part.startsWith('.')) throw rejected('hidden')
    if (part.includes('\0')) throw rejected('malformed')
  }
  return plain.join('/')
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch (cause) {
    // A name with an unencoded percent sign, which some recorders write.
    if (cause instanceof URIError) return path
    throw cause
  }
}

function rejected(defect: PlaylistNameDefect): UnplayableError {
  return new UnplayableError({ code: 'playlist-name-rejected', defect })
}
