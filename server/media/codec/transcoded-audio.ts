/** Rates of transcoded audio. Other audio is resampled to the first. */
const SENT_RATES: readonly number[] = [48_000, 44_100]

/** How audio is described that no browser plays in HLS: it is sent as stereo AAC-LC at most. */
export function transcodedAudio<Format extends { channels: number; sampleRate: number }>(
  codecName: string,
  transcodedFrom: Format,
) {
  const { channels, sampleRate } = transcodedFrom
  return {
    codec: 'mp4a.40.2',
    codecName,
    channels: Math.min(channels, 2),
    sampleRate: SENT_RATES.find((rate) => rate === sampleRate) ?? 48_000,
    transcodedFrom,
  }
}
