// Joins PCM samples, which are tiny, to packets.
import type { SampleLocations } from './sample-tables/sample-locations.ts'

/** Packets as parallel arrays. */
export interface PcmPackets {
  sizes: number[]
  offsets: number[]
  /** The first sample of each packet. */
  starts: number[]
}

/** Appends samples from number `first` on: up to `most` contiguous ones are one packet. */
export function appendPcmSamples(
  { sizes, offsets, starts }: PcmPackets,
  samples: SampleLocations,
  { first, most }: { first: number; most: number },
): void {
  let last = sizes.length - 1
  let end = last < 0 ? NaN : (offsets[last] ?? 0) + (sizes[last] ?? 0)
  samples.sizes.forEach((size, at) => {
    const offset = samples.offsets[at] ?? 0
    if (offset === end && first + at - (starts[last] ?? 0) < most) {
      sizes[last] = (sizes[last] ?? 0) + size
    } else {
      last = sizes.push(size) - 1
      offsets.push(offset)
      starts.push(first + at)
    }
    end = offset + size
  })
}
