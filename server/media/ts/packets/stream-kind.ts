// The content of a stream in the PMT: its codec, and whether browsers play it.
import { unplayableVideoIn } from '../../codec/unplayable-video.ts'
import { TS_VIDEO_CODECS } from '../../codec/video-codecs.ts'
import type { StreamEntry } from './program-table.ts'

/**
 * Audio by the form of its frames: `mpeg-audio` is MP3 or an earlier layer, `dolby` AC-3 or E-AC-3.
 * Only the frames show which.
 */
export type AudioFamily = 'aac' | 'latm' | 'mpeg-audio' | 'dolby' | 'dts' | 'opus' | 'lpcm'

/** The fields of a PMT entry that identify the content. */
export type StreamTyping = Pick<StreamEntry, 'streamType' | 'descriptors'>

type StreamKind =
  | { kind: 'video'; codec: 'h264' | 'hevc' }
  | { kind: 'audio'; family: AudioFamily; name: string }
  | { kind: 'video' | 'audio'; name: string }
  | { kind: 'data' }

const AC3 = { kind: 'audio', family: 'dolby', name: 'AC-3' } as const
const EAC3 = { kind: 'audio', family: 'dolby', name: 'E-AC-3' } as const
const DTS = { kind: 'audio', family: 'dts', name: 'DTS' } as const
const MPEG_AUDIO = { kind: 'audio', family: 'mpeg-audio', name: 'MPEG audio' } as const

/** Stream types of audio (ISO/IEC 13818-1 table 2-34, ATSC A/53, Blu-ray and cameras). */
const KINDS: ReadonlyMap<number, StreamKind> = new Map<number, StreamKind>([
  [0x03, MPEG_AUDIO],
  [0x04, MPEG_AUDIO],
  [0x0f, { kind: 'audio', family: 'aac', name: 'AAC' }],
  [0x11, { kind: 'audio', family: 'latm', name: 'AAC in LATM' }],
  [0x80, { kind: 'audio', family: 'lpcm', name: 'LPCM' }],
  [0x81, AC3],
  [0x82, DTS],
  [0x83, { kind: 'audio', name: 'TrueHD' }],
  [0x84, EAC3],
  [0x85, { ...DTS, name: 'DTS-HD' }],
  [0x86, { ...DTS, name: 'DTS-HD' }],
  [0x87, EAC3],
  [0x8a, DTS],
  [0xcf, { kind: 'audio', name: 'encrypted AAC' }],
])

/** Descriptors identify private streams (ETSI EN 300 468 annex D, G; SMPTE RA registrations). */
const PRIVATE_TYPE = 0x06
export const ADTS_STREAM_TYPE = 0x0f
const DESCRIPTOR_KINDS: ReadonlyMap<number, StreamKind> = new Map<number, StreamKind>([
  [0x6a, AC3],
  [0x7a, EAC3],
  [0x7b, DTS],
])
const REGISTRATION_DESCRIPTOR = 0x05
const REGISTRATION_KINDS: ReadonlyMap<string, StreamKind> = new Map<string, StreamKind>([
  ['AC-3', AC3],
  ['EAC3', EAC3],
  ['DTS1', DTS],
  ['DTS2', DTS],
  ['DTS3', DTS],
  ['Opus', { kind: 'audio', family: 'opus', name: 'Opus' }],
])
const OTHER_VIDEO = unplayableVideoIn('ts')
const LANGUAGE_DESCRIPTOR = 0x0a

/** The content of a stream, by its type and descriptors. */
export function streamKind(stream: StreamTyping): StreamKind {
  if (stream.streamType === PRIVATE_TYPE) return privateKind(stream.descriptors)
  return KINDS.get(stream.streamType) ?? videoKind(stream.streamType) ?? { kind: 'data' }
}

function videoKind(name: string | number): StreamKind | undefined {
  const codec = TS_VIDEO_CODECS.get(name)
  if (codec !== undefined) return { kind: 'video', codec }
  const other = OTHER_VIDEO.get(name)
  return other === undefined ? undefined : { kind: 'video', name: other }
}

/** The audio family of a stream, if known. */
export function audioFamily(stream: StreamTyping): AudioFamily | undefined {
  const kind = streamKind(stream)
  return 'family' in kind ? kind.family : undefined
}

/** A private stream without an identifying descriptor; FFmpeg lists AAC in m2ts like this. */
export function isUnnamed(stream: StreamTyping): boolean {
  return stream.streamType === PRIVATE_TYPE && stream.descriptors.length === 0
}

/** Language of the audio (ISO 639-2) in the table (ISO/IEC 13818-1 2.6.18), if present. */
export function streamLanguage({ descriptors }: StreamEntry): string | undefined {
  for (const { tag, body } of splitDescriptors(descriptors)) {
    if (tag !== LANGUAGE_DESCRIPTOR) continue
    const language = String.fromCharCode(...body.subarray(0, 3)).toLowerCase()
    return /^[a-z]{3}$/.test(language) && language !== 'und' ? language : undefined
  }
  return undefined
}

function privateKind(descriptors: Uint8Array): StreamKind {
  for (const { tag, body } of splitDescriptors(descriptors)) {
    const kind =
      tag === REGISTRATION_DESCRIPTOR
        ? registeredKind(String.fromCharCode(...body.subarray(0, 4)))
        : DESCRIPTOR_KINDS.get(tag)
    if (kind !== undefined) return kind
  }
  return { kind: 'data' }
}

function registeredKind(name: string): StreamKind | undefined {
  return REGISTRATION_KINDS.get(name) ?? videoKind(name)
}

/**
 * Descriptors in the order of the table (ISO/IEC 13818-1 2.6.1); a truncated one stays truncated.
 */
export function splitDescriptors(bytes: Uint8Array): { tag: number; body: Uint8Array }[] {
  const descriptors: { tag: number; body: Uint8Array }[] = []
  for (let at = 0; at + 2 <= bytes.length; at += 2 + (bytes[at + 1] ?? 0)) {
    descriptors.push({
      tag: bytes[at] ?? 0,
      body: bytes.subarray(at + 2, at + 2 + (bytes[at + 1] ?? 0)),
    })
  }
  return descriptors
}
