// The media data (mdat) of an fMP4 segment: order and sources of its samples. Pure.
import type { Part, RangePart, SampleRun } from '../../../media/media-reader.ts'

/**
 * `track`: run after run, without gaps. `file`: interleaved as in the recording, with small gaps
 * between samples, which no trun references (ISO/IEC 14496-12 8.1.1). It has few long ranges
 * instead of many short ones.
 */
export type DataOrder = 'track' | 'file'

/**
 * A gap up to this size is sent: headers of Matroska blocks and FLV tags. It must be smaller than
 * the headers of a cluster and its first block: recorders overwrite the cluster's size later, and a
 * segment's bytes must never change.
 */
const MAX_GAP_BYTES = 20

export interface MediaData {
  /** In send order. */
  parts: Part[]
  sizeBytes: number
  /** In the order of the input. */
  runs: PlacedRun[]
}

export interface PlacedRun {
  run: SampleRun
  /** Offset of each sample from the start of the data. */
  positions: Float64Array
}

/**
 * Places the samples of all runs. Samples of one track are always in decode order: Chromium reads
 * truns in the order of their data, and GStreamer does not seek back. Bytes that several samples
 * share are sent for each of them.
 */
export function layOutData(runs: readonly SampleRun[], order: DataOrder): MediaData {
  const placed = runs.map((run) => ({ run, positions: new Float64Array(run.sizes.length) }))
  const extents = placed.flatMap(splitRun)
  const sent =
    order === 'file' ? joinRanges(sortByFile(extents), MAX_GAP_BYTES) : joinRanges(extents, 0)
  return { ...sent, runs: placed }
}

/** Samples of a run that are contiguous in the recording, or in memory. */
interface Extent {
  placed: PlacedRun
  /** Samples `from` (included) to `to` (excluded) of the run. */
  from: number
  to: number
  /** Without the prefix. */
  sizeBytes: number
  /** Position in the recording, or the bytes. */
  source: number | Uint8Array
  /** Bytes before those of the first sample. */
  prefix?: Uint8Array | undefined
}

interface RecordedExtent extends Extent {
  source: number
}

/** Empty samples get the position of their neighbours. */
function splitRun(placed: PlacedRun): Extent[] {
  const { sizes, offsets, bytes, prefix } = placed.run
  if (bytes !== undefined) {
    return [{ placed, from: 0, to: sizes.length, sizeBytes: bytes.length, source: bytes }]
  }
  const extents: RecordedExtent[] = []
  let last: RecordedExtent | undefined
  for (let at = 0; at < sizes.length; at += 1) {
    const size = (sizes[at] ?? 0) - (at === 0 ? (prefix?.length ?? 0) : 0)
    const source = offsets?.[at] ?? 0
    if (last?.sizeBytes === 0) last.source = source
    if (last !== undefined && (size === 0 || last.source + last.sizeBytes === source)) {
      last.sizeBytes += size
      last.to = at + 1
    } else {
      last = { placed, from: at, to: at + 1, sizeBytes: size, source }
      if (at === 0) last.prefix = prefix
      extents.push(last)
    }
  }
  return extents
}

/** In file order, but never before an earlier sample of the same track. */
function sortByFile(extents: readonly Extent[]): Extent[] {
  const reached = { video: -1, audio: -1 }
  const ranked = extents.map((extent) => {
    const { placed, source } = extent
    const { kind } = placed.run
    if (typeof source === 'number') reached[kind] = Math.max(reached[kind], source)
    return { extent, rank: reached[kind] }
  })
  // The sort is stable, so it preserves the order of a track.
  return ranked.sort((a, b) => a.rank - b.rank).map(({ extent }) => extent)
}

/** Joins ranges with gaps of at most `maxGapBytes`, and sets the positions of the samples. */
function joinRanges(
  extents: readonly Extent[],
  maxGapBytes: number,
): Pick<MediaData, 'parts' | 'sizeBytes'> {
  const parts: Part[] = []
  let sizeBytes = 0
  let range: RangePart | undefined
  for (const extent of extents) {
    const { prefix } = extent
    if (prefix !== undefined) parts.push({ kind: 'bytes', bytes: prefix })
    const gap = prefix === undefined ? gapBytes(range, extent) : Infinity
    if (range !== undefined && gap <= maxGapBytes) {
      range.length += gap + extent.sizeBytes
      sizeBytes += gap
    } else if (extent.sizeBytes > 0) {
      const part = partOf(extent)
      range = part.kind === 'range' ? part : undefined
      parts.push(part)
    }
    placeSamples(extent, sizeBytes)
    sizeBytes += extent.sizeBytes + (prefix?.length ?? 0)
  }
  return { parts, sizeBytes }
}

/** Bytes between a range and the next extent; Infinity if the extent is empty or not after it. */
function gapBytes(range: RangePart | undefined, { source, sizeBytes }: Extent): number {
  if (range === undefined || typeof source !== 'number' || sizeBytes === 0) return Infinity
  const gap = source - range.offset - range.length
  return gap < 0 ? Infinity : gap
}

function partOf({ source, sizeBytes }: Extent): Part {
  return typeof source === 'number'
    ? { kind: 'range', offset: source, length: sizeBytes }
    : { kind: 'bytes', bytes: source }
}

function placeSamples({ placed, from, to }: Extent, position: number): void {
  let at = position
  for (let i = from; i < to; i += 1) {
    placed.positions[i] = at
    at += placed.run.sizes[i] ?? 0
  }
}
