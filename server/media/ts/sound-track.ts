// What sound is served as, from the frames in its PES packets.
import { findAudioFrame, framesSeconds } from '../codec/audio-frame.ts'
import type { AudioFraming } from '../codec/audio-frame.ts'
import type { AudioTrack } from '../media-index.ts'
import { PES_TIMESCALE } from './pes.ts'
import type { AudioStream } from './served-program.ts'

/** The track, from the first bytes of a PES packet's payload; undefined where no frame begins in them. */
export function describeSound(audio: AudioStream, payload: Uint8Array): AudioTrack | undefined {
  const frame = findAudioFrame(framingOf(audio), payload)
  if (frame === undefined || frame === 'other') return undefined
  const { codec, channels, sampleRate } = frame
  const codecName = audio.codec === 'aac' ? 'AAC' : 'MP3'
  return { kind: 'audio', codec, codecName, channels, sampleRate }
}

/** Length of the sound whose frames begin in a PES packet's payload, in ticks. */
export function soundTicks(audio: AudioStream, payload: Uint8Array): number {
  return Math.round(framesSeconds(framingOf(audio), payload) * PES_TIMESCALE)
}

function framingOf({ codec }: AudioStream): AudioFraming {
  return codec === 'aac' ? 'aac' : 'mpeg'
}
