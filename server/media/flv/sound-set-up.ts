// Makes the set-up of sound: from the recorder's own record, or from what a frame says of itself.
import { parseAudioConfig } from '../codec/audio-specific-config.ts'
import { aacSetUp, flacSetUp, opusSetUp } from '../codec/sample-entry.ts'
import type { AudioSetUp } from '../codec/sample-entry.ts'
import type { PlainSound, SetUpSound } from './audio-tag.ts'
import type { SoundSetUpRecord } from './flv-source.ts'
import type { SoundFrame } from './sound-frame.ts'

const AAC_SAMPLES = 1024
const FLAC_SAMPLES = 4096
const OPUS_RATE = 48_000
const FLAC_MARK = Buffer.from('fLaC')
const MPEG4_AUDIO = 0x40
const PLAIN_NAMES: Record<PlainSound, string> = {
  mp3: 'MP3',
  ac3: 'AC-3',
  eac3: 'E-AC-3',
  pcm_s16le: 'PCM',
  pcm_u8: 'PCM',
  pcm_alaw: 'G.711 A-law',
  pcm_mulaw: 'G.711 µ-law',
}

/** Undefined where the record is none that browsers play. */
export function readSoundSetUp(
  codec: SetUpSound,
  config: Uint8Array,
): SoundSetUpRecord | undefined {
  const setUp = makeSetUp(codec, config)
  if (setUp === undefined || setUp.channels < 1 || setUp.sampleRate < 1) return undefined
  const { sampleEntry, ...track } = setUp
  const frameTicks = fixedFrameTicks(codec, config)
  return {
    kind: 'sound',
    codec,
    config: Uint8Array.from(config),
    track: { kind: 'audio', ...track },
    sampleEntry,
    timescale: setUp.sampleRate,
    ...(frameTicks !== undefined && { frameTicks }),
  }
}

function makeSetUp(codec: SetUpSound, config: Uint8Array): AudioSetUp | undefined {
  if (codec === 'aac') return aacSetUp(config)
  return codec === 'opus' ? opusSetUp(config) : flacSetUp(withoutMark(config))
}

function withoutMark(config: Uint8Array): Uint8Array {
  return FLAC_MARK.equals(config.subarray(0, 4)) ? config.subarray(4) : config
}

function fixedFrameTicks(codec: SetUpSound, config: Uint8Array): number | undefined {
  if (codec === 'opus') return undefined
  if (codec === 'flac') {
    // Largest block (RFC 9639 8.2); all but the last are of this size where the smallest is, too.
    const blocks = withoutMark(config)
    return ((blocks[6] ?? 0) << 8) | (blocks[7] ?? 0) || FLAC_SAMPLES
  }
  const specific = new DataView(config.buffer, config.byteOffset, config.byteLength)
  const parsed = parseAudioConfig({ objectType: MPEG4_AUDIO, specific })
  return parsed && (AAC_SAMPLES * parsed.sampleRate) / parsed.coreRate
}

/** Set-up of sound that is transcoded, from one of its frames. */
export function plainSoundSetUp(codec: PlainSound, frame: SoundFrame): SoundSetUpRecord {
  const { sampleRate, channels } = frame
  const isOf44100 = sampleRate % 11_025 === 0 || sampleRate === 5512
  return {
    kind: 'sound',
    codec,
    config: new Uint8Array(0),
    track: {
      kind: 'audio',
      codec: 'mp4a.40.2',
      codecName: PLAIN_NAMES[codec],
      channels: Math.min(channels, 2),
      sampleRate: isOf44100 ? 44_100 : 48_000,
      transcodedFrom: { codec, channels, sampleRate },
    },
    timescale: sampleRate,
  }
}

/** Samples of an Opus packet at 48 kHz, by its first two bytes (RFC 6716 3.1, 3.2). */
export function opusTicks(head: Uint8Array): number {
  const first = head[0] ?? 0
  const config = first >> 3
  const code = first & 3
  const frames = code === 0 ? 1 : code === 3 ? (head[1] ?? 0) & 0x3f : 2
  return Math.max(1, frames * opusFrameTicks(config))
}

function opusFrameTicks(config: number): number {
  if (config < 12) return [480, 960, 1920, 2880][config & 3] ?? 960
  if (config < 16) return (config & 1) === 0 ? 480 : 960
  return [120, 240, 480, 960][config & 3] ?? (20 * OPUS_RATE) / 1000
}
