// The content of a stream in the PMT: its codec, and whether browsers play it.
import { audioCodecsIn } from '../../codec/audio-codecs.ts'
import type { AudioCodec } from '../../codec/audio-codecs.ts'
import { unplayableVideoIn } from '../../codec/unplayable-video.ts'
import { TS_VIDEO_CODECS } from '../../codec/video-codecs.ts'
import type { StreamEntry } from './program-table.ts'

/** The fields of a PMT entry that identify the content. */
export type StreamTyping = Pick<StreamEntry, 'streamType' | 'descriptors'>

type StreamKind =
  | { kind: 'video'; codec: 'h264' | 'hevc' }
  | { kind: 'video'; name: string }
  | { kind: 'audio'; codec?: AudioCodec; name: string }
  | { kind: 'data' }

/** Descriptors identify private streams (ETSI EN 300 468 annex D, G; SMPTE RA registrations). */
const PRIVATE_TYPE = 0x06
export const ADTS_STREAM_TYPE = 0x0f
const REGISTRATION_DESCRIPTOR = 0x05
const AUDIO = audioCodecsIn('ts')
const DESCRIBED_AUDIO = audioCodecsIn('descriptor')
const OTHER_VIDEO = unplayableVideoIn('ts')
const LANGUAGE_DESCRIPTOR = 0x0a

/** The content of a stream, by its type and descriptors. */
export function streamKind(stream: StreamTyping): StreamKind {
  if (stream.streamType === PRIVATE_TYPE) return privateKind(stream.descriptors)
  return kindOf(stream.streamType) ?? { kind: 'data' }
}

/** By stream type or registration. */
function kindOf(name: string | number): StreamKind | undefined {
  const audio = AUDIO.get(name)
  if (audio !== undefined) return { kind: 'audio', ...audio }
  const codec = TS_VIDEO_CODECS.get(name)
  if (codec !== undefined) return { kind: 'video', codec }
  const other = OTHER_VIDEO.get(name)
  return other === undefined ? undefined : { kind: 'video', name: other }
}

/** The codec of audio in the tables, if it is served. */
export function listedAudio(stream: StreamTyping): AudioCodec | undefined {
  const kind = streamKind(stream)
  return kind.kind === 'audio' ? kind.codec : undefined
}

/**
 * A private stream without a descriptor, except for its language; FFmpeg lists AAC in m2ts like
 * this.
 */
export function isUnnamed({ streamType, descriptors }: StreamTyping): boolean {
  const isLanguage = ({ tag }: { tag: number }) => tag === LANGUAGE_DESCRIPTOR
  return streamType === PRIVATE_TYPE && splitDescriptors(descriptors).every(isLanguage)
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
    const audio = DESCRIBED_AUDIO.get(tag)
    if (audio !== undefined) return { kind: 'audio', ...audio }
    if (tag !== REGISTRATION_DESCRIPTOR) continue
    const kind = kindOf(String.fromCharCode(...body.subarray(0, 4)))
    if (kind !== undefined) return kind
  }
  return { kind: 'data' }
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
