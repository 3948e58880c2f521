// What segments of MPEG-TS cost, as a number of samples: their bytes are known, not their frames.
import type { MediaIndex } from '../../media-index.ts'
import { withSegmentLimits } from '../../timeline/segment-limits.ts'
import type { TsForm, TsSource } from '../ts-source.ts'

/**
 * Bytes that cost as much as a sample. Recorded packets are sent as they are: at most 300 MB of
 * them are searched for tables. In fMP4 form, at most 64 MB are in memory.
 */
const BYTES_PER_SAMPLE: Record<TsForm, number> = { verbatim: 16 * 188, fmp4: 640 }

/** As `withSegmentLimits`. */
export function withByteLimits(index: MediaIndex, source: TsSource): MediaIndex {
  const { offsets, endOffset, form } = source
  const samples = (bytes: number) => Math.ceil(bytes / BYTES_PER_SAMPLE[form])
  const [start = 0] = offsets
  return withSegmentLimits(index, {
    before: offsets.map((offset) => samples(offset - start)),
    total: samples(endOffset - start),
  })
}
