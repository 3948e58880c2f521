// Makes the set-up of sound: from the recorder's own record, or from what a frame says of itself.
import { parseAudioConfig } from '../codec/audio-specific-config.ts'
import { aacSetUp, flacSetUp, opusSetUp } from '../codec/sample-entry.ts'
import type { AudioSetUp } from '../codec/sample-entry.ts'
import type { AudioTrack } from '../media-index.ts'
import type { SetUpSound } from './audio-tag.ts'
import type { PlainSound, SoundSetUpRecord } from './flv-source.ts'
import type { SoundFrame } from './sound-frame.ts'

const AAC_SAMPLES = 1024
const FLAC_SAMPLES = 4096
const FLAC_MARK = Buffer.from('fLaC')
const MPEG4_AUDIO = 0x40
/** What transcoding gives: AAC-LC. */
const TRANSCODED = 'mp4a.40.2'
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
  const { codecName, channels, sampleRate, sampleEntry } = setUp
  const frameTicks = fixedFrameTicks(codec, config)
  return {
    kind: 'sound',
    codec,
    config: Uint8Array.from(config),
    codecString: setUp.codec,
    codecName,
    channels,
    sampleRate,
    sampleEntry,
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
  return {
    kind: 'sound',
    codec,
    config: new Uint8Array(0),
    codecString: TRANSCODED,
    codecName: PLAIN_NAMES[codec],
    channels,
    sampleRate,
  }
}

/** The track as the index describes it. */
export function describeSound(setUp: SoundSetUpRecord): AudioTrack {
  const { codec, codecString, codecName, channels, sampleRate } = setUp
  const track = { kind: 'audio', codec: codecString, codecName, channels, sampleRate } as const
  if (codec === 'aac' || codec === 'opus' || codec === 'flac') return track
  const isOf44100 = sampleRate % 11_025 === 0 || sampleRate === 5512
  return {
    ...track,
    channels: Math.min(channels, 2),
    sampleRate: isOf44100 ? 44_100 : 48_000,
    transcodedFrom: { codec, channels, sampleRate },
  }
}
