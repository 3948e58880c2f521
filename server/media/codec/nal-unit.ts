// NAL units in Annex B byte streams of H.264 and HEVC (ISO/IEC 14496-10 annex B, 23008-2 annex B).

/** Precedes a NAL unit. */
export const START_CODE = Uint8Array.of(0, 0, 0, 1)

export type VideoCodec = 'h264' | 'hevc'

/** The content of a NAL unit, as far as splitting needs it. */
type NalRole = 'key slice' | 'slice' | 'parameters' | 'sps' | 'sei' | 'other'

/**
 * Index of the first byte after a start code (00 00 01) at or after `from`; -1 without one before
 * `end`.
 */
export function findNal(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from; at + 2 < end;) {
    const third = bytes[at + 2] ?? 0
    if (third > 1) at += 3
    else if (third === 1 && bytes[at + 1] === 0 && bytes[at] === 0) return at + 3
    else at++
  }
  return -1
}

/** The content of the NAL unit with this first byte (14496-10 table 7-1, 23008-2 table 7-1). */
export function nalRole(codec: VideoCodec, firstByte: number): NalRole {
  return codec === 'h264' ? h264Role(firstByte & 0x1f) : hevcRole((firstByte >>> 1) & 0x3f)
}

function h264Role(type: number): NalRole {
  if (type === 5) return 'key slice'
  if (type === 1 || type === 2) return 'slice'
  if (type === 6) return 'sei'
  if (type === 7) return 'sps'
  return type === 8 || type === 13 ? 'parameters' : 'other'
}

function hevcRole(type: number): NalRole {
  if (type >= 16 && type <= 21) return 'key slice'
  if (type <= 9) return 'slice'
  if (type === 33) return 'sps'
  return type === 32 || type === 34 ? 'parameters' : 'other'
}

/** The payload of a NAL unit without emulation prevention bytes (14496-10 7.4.1.1). */
export function unescapeNal(nal: Uint8Array): Uint8Array {
  const raw = new Uint8Array(nal.length)
  let length = 0
  let zeros = 0
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0
      continue
    }
    zeros = byte === 0 ? zeros + 1 : 0
    raw[length++] = byte
  }
  return raw.subarray(0, length)
}

/** Zeros before a start code belong to it, not to the previous NAL unit (14496-10 annex B.1.1). */
export function withoutTrailingZeros(nal: Uint8Array): Uint8Array {
  let end = nal.length
  while (end > 0 && nal[end - 1] === 0) end--
  return nal.subarray(0, end)
}

/** Splits an Annex B byte stream into its NAL units, at most `limit`. */
export function splitNals(bytes: Uint8Array, limit: number): Uint8Array[] {
  const nals: Uint8Array[] = []
  let start = findNal(bytes, 0, bytes.length)
  while (start >= 0 && nals.length < limit) {
    const next = findNal(bytes, start, bytes.length)
    nals.push(withoutTrailingZeros(bytes.subarray(start, next < 0 ? bytes.length : next - 3)))
    start = next
  }
  return nals
}
