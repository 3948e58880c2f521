// Converts subtitle samples to WebVTT payloads: 3GPP timed text (3GPP TS 26.245 5.17), QuickTime
// text, and WebVTT (ISO/IEC 14496-30 7).
import { isAppError } from '../../../base/errors.ts'
import { cleanPayload, escapeText } from '../../codec/webvtt-text.ts'
import { parseBoxes } from '../boxes/box.ts'

/** `plain`: a length and text. `vtt`: boxes with WebVTT payloads. */
export type SampleFormat = 'plain' | 'vtt'

/** Sample format for a sample entry type; undefined if it is not supported. */
export function sampleFormat(entryType: string): SampleFormat | undefined {
  if (entryType === 'wvtt') return 'vtt'
  return entryType === 'tx3g' || entryType === 'text' ? 'plain' : undefined
}

/** Cue payloads of a sample: usually one, none if it is empty or corrupt. */
export function parseSubtitleSample(format: SampleFormat, bytes: Uint8Array): string[] {
  const subtitles = format === 'vtt' ? vttPayloads(bytes) : [escapeText(plainText(bytes))]
  return subtitles.map(cleanPayload).filter((text) => text !== '')
}

/**
 * A 16-bit length, then UTF-8, or UTF-16 with a byte order mark; old QuickTime text uses a
 * Macintosh encoding.
 */
export function plainText(bytes: Uint8Array): string {
  const length = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)
  const text = bytes.subarray(2, 2 + length)
  const mark = ((text[0] ?? 0) << 8) | (text[1] ?? 0)
  if (mark === 0xfe_ff) return new TextDecoder('utf-16be').decode(text)
  if (mark === 0xff_fe) return new TextDecoder('utf-16le').decode(text)
  const decoded = new TextDecoder().decode(text)
  return decoded.includes('\uFFFD') ? new TextDecoder('macintosh').decode(text) : decoded
}

/** Payload boxes (payl) of the cues (vttc) in a sample. */
function vttPayloads(bytes: Uint8Array): string[] {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return parseBoxes(view, 0).flatMap((cue) => {
      if (cue.type !== 'vttc') return []
      const inside = new DataView(
        bytes.buffer,
        bytes.byteOffset + cue.contentStart,
        cue.end - cue.contentStart,
      )
      const payload = parseBoxes(inside, cue.contentStart).find(({ type }) => type === 'payl')
      if (payload === undefined) return []
      return [new TextDecoder().decode(bytes.subarray(payload.contentStart, payload.end))]
    })
  } catch (error) {
    if (isAppError(error, 'unplayable')) return []
    throw error
  }
}
