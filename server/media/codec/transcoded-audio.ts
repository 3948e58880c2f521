// How transcoded audio is described.
import type { AudioFormat } from './audio-codecs.ts'

/** What transcoding results in: AAC-LC (RFC 6381). */
export const AAC_LC = 'mp4a.40.2'
/** Rates of transcoded audio. Other audio is resampled to the first. */
const SENT_RATES: readonly number[] = [48_000, 44_100]

/** How audio is described that no browser plays in HLS: it is sent as stereo AAC-LC at most. */
export function transcodedAudio(codecName: string, transcodedFrom: AudioFormat) {
  const { channels, sampleRate } = transcodedFrom
  return {
    codec: AAC_LC,
    codecName,
    channels: Math.min(channels, 2),
    sampleRate: SENT_RATES.find((rate) => rate === sampleRate) ?? 48_000,
    transcodedFrom,
  }
}
