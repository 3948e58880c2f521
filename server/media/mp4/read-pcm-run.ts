// Reads PCM of a segment, whose samples are tiny, as packets. It does so in slices: a second has up
// to 192,000 samples.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import type { SplitPointRange } from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import type { Mp4Track } from './mp4-source.ts'
import { dropSamples } from './sample-tables/drop-samples.ts'
import { readRunTimes, sampleRange } from './sample-tables/read-sample-run.ts'
import { readSampleLocations } from './sample-tables/sample-locations.ts'
import type { SampleLocations } from './sample-tables/sample-locations.ts'

/** Samples that are processed without a turn of the event loop. */
const SLICE_SAMPLES = 65_536

/** Packets as parallel arrays. */
interface PcmPackets {
  sizes: number[]
  offsets: number[]
  /** The first sample of each packet. */
  starts: number[]
}

/** As `readSampleRun`, with contiguous samples joined to packets. */
export async function readPcmRun(
  file: OpenFile,
  track: Mp4Track,
  range: SplitPointRange,
): Promise<SampleRun | undefined> {
  const { from, to } = sampleRange(track, range)
  if (to <= from) return undefined
  const { firstDecodeTicks, durations } = await readRunTimes(file, track, range)
  const packets: PcmPackets = { sizes: [], offsets: [], starts: [] }
  for (let first = from; first < to; first += SLICE_SAMPLES) {
    const slice = { from: first, to: Math.min(first + SLICE_SAMPLES, to) }
    const samples = await readSampleLocations(file, track.samples, slice)
    appendPcmSamples(packets, samples, { first: first - from, most: track.packetSamples ?? 1 })
    if (slice.to < to) await nextTurn()
  }
  const { kind, timescale } = track
  const sizes = Uint32Array.from(packets.sizes)
  const offsets = Float64Array.from(packets.offsets)
  const run = { kind, timescale, firstDecodeTicks, sizes, offsets }
  const packetTicks = sumTicks(durations, packets.starts)
  return dropSamples({ ...run, durations: packetTicks }, (at) => {
    return !((offsets[at] ?? NaN) + (sizes[at] ?? 0) <= file.stat.sizeBytes)
  })
}

/** Appends samples from number `first` on: up to `most` contiguous ones are one packet. */
function appendPcmSamples(
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

function sumTicks(durations: Uint32Array, starts: readonly number[]): Uint32Array {
  return Uint32Array.from(starts, (start, at) => {
    const end = starts[at + 1] ?? durations.length
    return durations.subarray(start, end).reduce((sum, ticks) => sum + ticks, 0)
  })
}
