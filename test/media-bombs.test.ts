// Wrong sizes, counts and times in the headers of each container: refused or skipped, in little
// time and memory.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { watchCpu } from './support/cpu-time.ts'
import { exerciseRecording } from './support/verify/exercise-recording.ts'
import { fixturePath } from './support/temp-library.ts'

/** The same values on every run. */
const RUNS = 250
const SEED = 86
/** Of processor time, far above what any recording takes. */
const MAX_MS = 5000
const MAX_GROWTH_BYTES = 256 * 1024 * 1024
/** Bytes from the start of a box, element, tag or packet that contain its sizes and counts. */
const HEAD_BYTES = 40
const MAX_PLACES = 4000
const BOXES_OF_BOXES = new Set(
  'moov trak mdia minf stbl edts moof traf mvex udta dinf meta'.split(' '),
)
/**
 * Master elements: Segment, Info, Tracks, TrackEntry, Video, Audio, Cluster, BlockGroup, Cues,
 * CuePoint.
 */
const MASTERS = new Set([
  0x18538067, 0x1549a966, 0x1654ae6b, 0xae, 0xe0, 0xe1, 0x1f43b675, 0xa0, 0x1c53bb6b, 0xbb,
])

/** Starts of boxes (ISO/IEC 14496-12 4.2), nested ones included. */
function boxStarts(bytes: Buffer, from = 0, to = bytes.length): number[] {
  const starts: number[] = []
  for (let at = from; at + 8 <= to;) {
    const size = bytes.readUInt32BE(at)
    const end = size === 0 ? to : at + size
    if ((size !== 0 && size < 8) || end > to) break
    starts.push(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (BOXES_OF_BOXES.has(type)) starts.push(...boxStarts(bytes, at + 8, end))
    at = end
  }
  return starts
}

/** A variable-length number of EBML (RFC 8794 4); an id includes the marker. */
function variableNumber(bytes: Buffer, at: number, keepsMarker: boolean) {
  const first = bytes[at] ?? 0
  const length = Math.clz32(first) - 23
  let value = keepsMarker ? first : first & (0xff >>> length)
  for (let i = 1; i < length; i += 1) value = value * 256 + (bytes[at + i] ?? 0)
  const isUnknown = !keepsMarker && value === 2 ** (7 * length) - 1
  return { value: isUnknown ? Infinity : value, next: at + length }
}

/** Starts of elements (RFC 8794 6), nested ones included. */
function elementStarts(bytes: Buffer, from = 0, to = bytes.length): number[] {
  const starts: number[] = []
  for (let at = from; at < to && starts.length < MAX_PLACES && bytes[at] !== 0;) {
    const id = variableNumber(bytes, at, true)
    const size = variableNumber(bytes, id.next, false)
    const end = Math.min(size.next + size.value, to)
    starts.push(at)
    if (MASTERS.has(id.value)) starts.push(...elementStarts(bytes, size.next, end))
    at = end
  }
  return starts
}

/** Starts of tags (FLV 10.1, annex E.4.1). */
function tagStarts(bytes: Buffer): number[] {
  const starts = [0]
  for (let at = 13; at + 11 < bytes.length; at += 15 + bytes.readUIntBE(at + 1, 3)) starts.push(at)
  return starts
}

function packetStarts(bytes: Buffer): number[] {
  return Array.from({ length: Math.floor(bytes.length / 188) }, (_, i) => i * 188)
}

interface Lie {
  /** Number of the start, and the offset from it. */
  start: number
  at: number
  bytes: Uint8Array
}

const hostile = fc.oneof(
  fc.constantFrom(
    ...[
      '00',
      '01',
      '08',
      'ff',
      '80',
      '00000000',
      '00000001',
      '00000008',
      '7fffffff',
      '80000000',
      'ffffffff',
      '01ffffffffffffff',
      '0000000000000000',
      '7fffffffffffffff',
      '8000000000000000',
      'ffffffffffffffff',
    ].map((hex) => new Uint8Array(Buffer.from(hex, 'hex'))),
  ),
  fc.uint8Array({ minLength: 1, maxLength: 8 }),
)
const lie: fc.Arbitrary<Lie> = fc.record({
  start: fc.nat(),
  at: fc.nat(HEAD_BYTES),
  bytes: hostile,
})

describe.each([
  ['mp4-h264-aac-editlist-video-starts-1s.mp4', boxStarts],
  ['mp4-h264-two-video-two-audio-movtext.mp4', boxStarts],
  ['mp4-hevc-hvc1-aac.mp4', boxStarts],
  ['fmp4-h264-aac-18frag.mp4', boxStarts],
  ['mkv-h264-aac-60s.mkv', elementStarts],
  ['mkv-h264-two-audio-subs-truncated.mkv', elementStarts],
  ['webm-vp9-opus51.webm', elementStarts],
  ['flv-h264-aac.flv', tagStarts],
  ['ts-h264-pts-wrap-33bit.ts', packetStarts],
  ['ts-hevc-aac51.ts', packetStarts],
])('%s', (name, startsOf) => {
  it('with wrong sizes, counts and times is read or refused at little cost', async () => {
    const original = readFileSync(fixturePath(name))
    const starts = startsOf(original)
    expect(starts.length).toBeGreaterThan(20)
    const residentBefore = process.memoryUsage().rss
    await fc.assert(
      fc.asyncProperty(fc.array(lie, { minLength: 1, maxLength: 3 }), async (lies) => {
        const bytes = Buffer.from(original)
        for (const { start, at, bytes: wrong } of lies) {
          const place = (starts[start % starts.length] ?? 0) + at
          bytes.set(
            wrong.subarray(0, Math.max(0, bytes.length - place)),
            Math.min(place, bytes.length),
          )
        }
        const cpuMs = watchCpu()
        expect(await exerciseRecording(bytes)).toMatch(/^(?:read|refused)$/)
        expect(cpuMs()).toBeLessThan(MAX_MS)
      }),
      { numRuns: RUNS, seed: SEED },
    )
    expect(process.memoryUsage().rss - residentBefore).toBeLessThan(MAX_GROWTH_BYTES)
  })
})
