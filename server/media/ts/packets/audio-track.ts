// Audio in MPEG-TS that is sent unchanged, and the duration of a PES packet of audio.
import type { AudioTrack } from '../../media-index.ts'
import { PES_TIMESCALE } from './pes.ts'
import { isPositioned, audioFrameAt } from './audio-frame.ts'
import type { AudioConfig } from './audio-frame.ts'
import { audioEntry } from './audio-config.ts'

/** The track of AAC or MP3 that players extract from MPEG-TS. */
export function verbatimTrack(audio: AudioConfig): AudioTrack {
  const { channels, sampleRate } = audio
  const codec = audio.codec === 'aac' ? (audioEntry(audio)?.codec ?? 'mp4a.40.2') : 'mp4a.40.34'
  const codecName = audio.codec === 'aac' ? 'AAC' : 'MP3'
  return { kind: 'audio', codec, codecName, channels, sampleRate }
}

/** Duration of the frames that begin in the payload of a PES packet, in ticks. */
export function audioTicks({ codec, timescale }: AudioConfig, payload: Uint8Array): number {
  let seconds = 0
  for (let at = 0; at < payload.length;) {
    const frame = audioFrameAt(codec, payload, at)
    if (frame === undefined && isPositioned(codec)) break
    if (frame === undefined) {
      at++
      continue
    }
    seconds += frame.samples / (frame.sampleRate ?? timescale)
    at += frame.bytes
  }
  return Math.round(seconds * PES_TIMESCALE)
}
