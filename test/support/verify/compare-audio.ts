// Compares transcoded audio with its source: similarity and delay.
import type { DecodedAudio } from '../make/make-audio.ts'

/** Samples since time 0. */
export interface Span {
  from: number
  to: number
  /** The result is this many samples later than the source. */
  lag?: number
}

/** Signal-to-noise ratio: the level of the source above the difference, in decibels. */
export function clarity(
  source: DecodedAudio,
  heard: DecodedAudio,
  { from, to, lag = 0 }: Span,
): number {
  let loud = 1e-9
  let noise = 1e-12
  source.samples.forEach((plane, channel) => {
    const other = heard.samples[channel]
    for (let at = from; at < to; at += 1) {
      const wanted = plane[at - source.start] ?? 0
      loud += wanted ** 2
      noise += (wanted - (other?.[at + lag - heard.start] ?? 0)) ** 2
    }
  })
  return 10 * Math.log10(loud / noise)
}

/** Delay in samples, by the best match within 6 ms. */
export function lagOf(source: DecodedAudio, heard: DecodedAudio, from: number): number {
  const lags = Array.from({ length: 577 }, (_, i) => i - 288)
  const clarities = lags.map((lag) => clarity(source, heard, { from, to: from + 2400, lag }))
  return lags[clarities.indexOf(Math.max(...clarities))] ?? NaN
}
