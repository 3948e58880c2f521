// What a stream of the PMT is: its codec in the field's words, and whether browsers have it.
import type { StreamEntry } from './program-table.ts'

/** `mpeg-audio` is MP3 or one of its elders; only its frames tell. */
type StreamKind =
  | { kind: 'video'; codec: 'h264' | 'hevc' }
  | { kind: 'audio'; codec: 'aac' | 'mpeg-audio' }
  | { kind: 'video' | 'audio'; codec: 'other'; name: string }
  | { kind: 'data' }

/** Stream types (ISO/IEC 13818-1 table 2-34, ATSC A/53, and what Blu-ray and cameras write). */
const KINDS: ReadonlyMap<number, StreamKind> = new Map<number, StreamKind>([
  [0x01, { kind: 'video', codec: 'other', name: 'MPEG-1' }],
  [0x02, { kind: 'video', codec: 'other', name: 'MPEG-2' }],
  [0x03, { kind: 'audio', codec: 'mpeg-audio' }],
  [0x04, { kind: 'audio', codec: 'mpeg-audio' }],
  [0x0f, { kind: 'audio', codec: 'aac' }],
  [0x10, { kind: 'video', codec: 'other', name: 'MPEG-4 Visual' }],
  [0x11, { kind: 'audio', codec: 'other', name: 'AAC in LATM' }],
  [0x1b, { kind: 'video', codec: 'h264' }],
  [0x21, { kind: 'video', codec: 'other', name: 'JPEG 2000' }],
  [0x24, { kind: 'video', codec: 'hevc' }],
  [0x33, { kind: 'video', codec: 'other', name: 'VVC' }],
  [0x42, { kind: 'video', codec: 'other', name: 'AVS' }],
  [0x80, { kind: 'audio', codec: 'other', name: 'LPCM' }],
  [0x81, { kind: 'audio', codec: 'other', name: 'AC-3' }],
  [0x82, { kind: 'audio', codec: 'other', name: 'DTS' }],
  [0x83, { kind: 'audio', codec: 'other', name: 'TrueHD' }],
  [0x84, { kind: 'audio', codec: 'other', name: 'E-AC-3' }],
  [0x85, { kind: 'audio', codec: 'other', name: 'DTS-HD' }],
  [0x87, { kind: 'audio', codec: 'other', name: 'E-AC-3' }],
  [0x8a, { kind: 'audio', codec: 'other', name: 'DTS' }],
  [0xcf, { kind: 'audio', codec: 'other', name: 'encrypted AAC' }],
  [0xdb, { kind: 'video', codec: 'other', name: 'encrypted H.264' }],
  [0xea, { kind: 'video', codec: 'other', name: 'VC-1' }],
])

/** Private streams say what they are in descriptors (ETSI EN 300 468 annex D, G; SMPTE RA registrations). */
const PRIVATE_TYPE = 0x06
export const ADTS_STREAM_TYPE = 0x0f
const DESCRIPTOR_NAMES: ReadonlyMap<number, string> = new Map([
  [0x6a, 'AC-3'],
  [0x7a, 'E-AC-3'],
  [0x7b, 'DTS'],
])
const REGISTRATION_DESCRIPTOR = 0x05
const REGISTRATION_NAMES: ReadonlyMap<string, string> = new Map([
  ['AC-3', 'AC-3'],
  ['EAC3', 'E-AC-3'],
  ['DTS1', 'DTS'],
  ['DTS2', 'DTS'],
  ['DTS3', 'DTS'],
  ['Opus', 'Opus in MPEG-TS'],
])
const HEVC_REGISTRATION = 'HEVC'

/** What a stream holds, by its type and descriptors. */
export function streamKind(stream: StreamEntry): StreamKind {
  if (stream.streamType === PRIVATE_TYPE) return privateKind(stream.descriptors)
  return KINDS.get(stream.streamType) ?? { kind: 'data' }
}

/** MPEG audio of which only the frames tell whether it is MP3. */
export function isMpegAudio(stream: StreamEntry): boolean {
  const kind = streamKind(stream)
  return kind.kind === 'audio' && kind.codec === 'mpeg-audio'
}

/** A private stream of which no descriptor says what it is. */
export function isUnnamed(stream: StreamEntry): boolean {
  return stream.streamType === PRIVATE_TYPE && stream.descriptors.length === 0
}

function privateKind(descriptors: Uint8Array): StreamKind {
  for (let at = 0; at + 2 <= descriptors.length; at += 2 + (descriptors[at + 1] ?? 0)) {
    const tag = descriptors[at] ?? 0
    const registered =
      tag === REGISTRATION_DESCRIPTOR
        ? String.fromCharCode(...descriptors.subarray(at + 2, at + 6))
        : ''
    if (registered === HEVC_REGISTRATION)
      return { kind: 'video', codec: 'other', name: 'private HEVC' }
    const name = DESCRIPTOR_NAMES.get(tag) ?? REGISTRATION_NAMES.get(registered)
    if (name !== undefined) return { kind: 'audio', codec: 'other', name }
  }
  return { kind: 'data' }
}
