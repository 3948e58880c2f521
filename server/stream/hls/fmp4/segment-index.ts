// The index of a file of fragments (sidx, ISO/IEC 14496-12 8.16.3): where each is, and when. Pure.
import { fullBox, uint16, uint32 } from '../../../media/codec/write-box.ts'

/** Its number of references has 16 bits. */
export const MAX_REFERENCES = 0xffff
/** Each begins with a sync sample: starts_with_SAP, SAP_type 1. */
const STARTS_WITH_SYNC = 0x90000000

/** One fragment, or several consecutive ones. */
export interface IndexedFragment {
  sizeBytes: number
  durationTicks: number
}

export interface SegmentIndex {
  trackId: number
  timescale: number
  /** Of the first sample that is presented. */
  startTicks: number
  /** In the order of the file, from the end of the index on. */
  fragments: readonly IndexedFragment[]
}

export function formatSegmentIndex(index: SegmentIndex): Uint8Array {
  const { trackId, timescale, startTicks, fragments } = index
  return fullBox(
    'sidx',
    { version: 1 },
    uint32(trackId, timescale),
    uint32(Math.floor(startTicks / 0x100000000), startTicks % 0x100000000),
    // first_offset
    uint32(0, 0),
    uint16(0, fragments.length),
    fragments.map(({ sizeBytes, durationTicks }) =>
      uint32(sizeBytes, durationTicks, STARTS_WITH_SYNC),
    ),
  )
}
