// The media data (mdat) of an fMP4 segment: in which order its samples stand, and what is sent for them. Pure.
import type { Part, RangePart, SampleRun } from '../../media/media-reader.ts'

/**
 * `track`: run after run, nothing between samples. `file`: as the recording interleaves its tracks, with the small holes
 * between their samples, which no trun points to (ISO/IEC 14496-12 8.1.1): few long ranges instead of many short ones.
 */
export type DataOrder = 'track' | 'file'

/**
 * A hole up to this size is sent: heads of Matroska's blocks, and of FLV's tags. Less than the head of a cluster and its
 * first block takes, for recorders write the cluster's size there later, and a segment's bytes never change.
 */
const MAX_HOLE_BYTES = 20

export interface MediaData {
  /** What is sent, in order. */
  parts: Part[]
  sizeBytes: number
  /** The runs, in the order they were given. */
  runs: PlacedRun[]
}

export interface PlacedRun {
  run: SampleRun
  /** Where each sample begins: bytes from the beginning of the data. */
  positions: Float64Array
}

/**
 * Places the samples of all runs. Those of one track stay in decode order whatever the order: Chromium reads truns in the
 * order of their data, and GStreamer never goes back. Bytes that samples share are sent for each of them.
 */
export function layOutData(runs: readonly SampleRun[], order: DataOrder): MediaData {
  const placed = runs.map((run) => ({ run, positions: new Float64Array(run.sizes.length) }))
  const stretches = placed.flatMap(splitRun)
  const sent =
    order === 'file' ? joinRanges(sortByFile(stretches), MAX_HOLE_BYTES) : joinRanges(stretches, 0)
  return { ...sent, runs: placed }
}

/** Samples of a run that come from one place without a hole. */
interface Stretch {
  placed: PlacedRun
  /** Its samples from `from` up to, not including, `to`. */
  from: number
  to: number
  sizeBytes: number
  /** Their position in the recording, or they themselves. */
  source: number | Uint8Array
}

interface RecordedStretch extends Stretch {
  source: number
}

/** Empty samples lie where their neighbours do. */
function splitRun(placed: PlacedRun): Stretch[] {
  const { sizes, offsets, bytes } = placed.run
  if (bytes !== undefined) {
    return [{ placed, from: 0, to: sizes.length, sizeBytes: bytes.length, source: bytes }]
  }
  const stretches: RecordedStretch[] = []
  let last: RecordedStretch | undefined
  for (let at = 0; at < sizes.length; at += 1) {
    const size = sizes[at] ?? 0
    const source = offsets?.[at] ?? 0
    if (last?.sizeBytes === 0) last.source = source
    if (last !== undefined && (size === 0 || last.source + last.sizeBytes === source)) {
      last.sizeBytes += size
      last.to = at + 1
    } else {
      last = { placed, from: at, to: at + 1, sizeBytes: size, source }
      stretches.push(last)
    }
  }
  return stretches
}

/** As they lie in the file; what its track needs later than something that lies farther behind, right behind that. */
function sortByFile(stretches: readonly Stretch[]): Stretch[] {
  const reached = { video: -1, audio: -1 }
  const turns = stretches.map((stretch) => {
    const { placed, source } = stretch
    const { kind } = placed.run
    if (typeof source === 'number') reached[kind] = Math.max(reached[kind], source)
    return { stretch, turn: reached[kind] }
  })
  // Sorting is stable: where turns are equal, a track's order stays.
  return turns.sort((a, b) => a.turn - b.turn).map(({ stretch }) => stretch)
}

/** Ranges that lie behind each other, with holes of at most so many bytes, become one; samples get their positions. */
function joinRanges(
  stretches: readonly Stretch[],
  maxHoleBytes: number,
): Pick<MediaData, 'parts' | 'sizeBytes'> {
  const parts: Part[] = []
  let sizeBytes = 0
  let range: RangePart | undefined
  for (const stretch of stretches) {
    const hole = holeBytes(range, stretch)
    if (range !== undefined && hole <= maxHoleBytes) {
      range.length += hole + stretch.sizeBytes
      sizeBytes += hole
    } else if (stretch.sizeBytes > 0) {
      const part = partOf(stretch)
      range = part.kind === 'range' ? part : undefined
      parts.push(part)
    }
    placeSamples(stretch, sizeBytes)
    sizeBytes += stretch.sizeBytes
  }
  return { parts, sizeBytes }
}

/** Bytes between a range and what lies behind it in the recording; Infinity where that is not so, or is nothing. */
function holeBytes(range: RangePart | undefined, { source, sizeBytes }: Stretch): number {
  if (range === undefined || typeof source !== 'number' || sizeBytes === 0) return Infinity
  const hole = source - range.offset - range.length
  return hole < 0 ? Infinity : hole
}

function partOf({ source, sizeBytes }: Stretch): Part {
  return typeof source === 'number'
    ? { kind: 'range', offset: source, length: sizeBytes }
    : { kind: 'bytes', bytes: source }
}

function placeSamples({ placed, from, to }: Stretch, position: number): void {
  let at = position
  for (let i = from; i < to; i += 1) {
    placed.positions[i] = at
    at += placed.run.sizes[i] ?? 0
  }
}
