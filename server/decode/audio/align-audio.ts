// Places decoded samples on the session timeline, from packet times that may be rounded, drift, or
// have gaps.
import { OVERLAP_SECONDS } from './audio-job.ts'
import type { AudioJob } from './audio-job.ts'

/** Samples of one decoder output. */
export interface AudioChunk {
  channels: Float32Array[]
  sampleRate: number
  /**
   * Number of the packet whose time is that of the first sample; undefined if the samples continue
   * the previous ones.
   */
  packet: number | undefined
}

/** Audio without a gap, and its position. */
export interface PlacedRun {
  sampleRate: number
  channels: Float32Array[]
  /** In order, without overlap. The offset changes linearly between two zones. */
  zones: Zone[]
}

/**
 * Samples `from` to `to` of a run are at `offset` plus their number, in samples since session time
 * 0.
 */
export interface Zone {
  from: number
  to: number
  offset: number
}

/**
 * If a packet is later than the end of the previous one by more than this, there is a gap; less is
 * jitter.
 */
const MAX_JITTER_SECONDS = 0.05
/** Avoids ties, which two adjacent segments could round differently. */
const ROUNDING_BIAS = 0.4997

/** A chunk in its run. */
interface TimedChunk {
  channels: Float32Array[]
  packet: number
  /** Number of its first sample in the run. */
  start: number
  length: number
  /** Position of its first sample according to its packet time, in samples. */
  position: number
}

interface Run {
  sampleRate: number
  chunks: TimedChunk[]
}

type SegmentBounds = Pick<AudioJob, 'packets' | 'leadInPackets' | 'end'>

/**
 * Places all chunks. Positions are whole samples, averaged over half a second of packets; if both
 * ends of a run disagree (drift), its middle is stretched. Adjacent segments place the packets they
 * share alike, because the zone before a boundary depends only on the half second of packets before
 * it.
 */
export function placeAudio(chunks: readonly AudioChunk[], bounds: SegmentBounds): PlacedRun[] {
  const runs = splitRuns(chunks, bounds.packets)
  const boundaryRun = runs.findLastIndex((run) => leadIn(run, bounds).length > 0)
  return runs.map((run, number) => {
    const isJoinedAtEnd = bounds.end === 'joined' && number === runs.length - 1
    const zones = planZones(run, {
      before: number === boundaryRun ? leadIn(run, bounds) : undefined,
      isJoinedAtEnd,
    })
    return { sampleRate: run.sampleRate, channels: joinChunks(run), zones }
  })
}

function splitRuns(
  chunks: readonly AudioChunk[],
  { ticks, timescale }: AudioJob['packets'],
): Run[] {
  const runs: Run[] = []
  for (const { channels, sampleRate, packet } of chunks) {
    const run = runs.at(-1)
    const last = run?.chunks.at(-1)
    const expected = last === undefined ? 0 : last.position + last.length
    const packetTicks = packet === undefined ? undefined : ticks[packet]
    const position = packetTicks === undefined ? expected : (packetTicks / timescale) * sampleRate
    const length = channels[0]?.length ?? 0
    const isContinuous =
      run?.sampleRate === sampleRate &&
      Math.abs(position - expected) <= MAX_JITTER_SECONDS * sampleRate
    const start = isContinuous && last !== undefined ? last.start + last.length : 0
    const chunk = { channels, packet: packet ?? last?.packet ?? 0, start, length, position }
    if (isContinuous) run.chunks.push(chunk)
    else runs.push({ sampleRate, chunks: [chunk] })
  }
  return runs
}

/** The run's chunks before the boundary with the previous segment. */
function leadIn(run: Run, { leadInPackets }: SegmentBounds): TimedChunk[] {
  return run.chunks.filter(({ packet }) => packet < leadInPackets)
}

interface RunBoundaries {
  /** Chunks shared with the previous segment; undefined if the run starts in this segment. */
  before: TimedChunk[] | undefined
  isJoinedAtEnd: boolean
}

function planZones(run: Run, { before, isJoinedAtEnd }: RunBoundaries): Zone[] {
  const { chunks, sampleRate } = run
  const length = endOf(chunks)
  const span = OVERLAP_SECONDS * sampleRate
  const tail = lastChunks(chunks, span)
  const head = before ?? chunks.filter(({ start }) => start < span)
  const first = { from: 0, to: endOf(head), offset: offsetOf(lastChunks(head, span)) }
  const last = { from: Math.max(tail[0]?.start ?? 0, first.to), to: length, offset: offsetOf(tail) }
  if ((tail[0]?.start ?? 0) >= first.to) return separateZones(first, last)
  // Too short for two zones: the one shared with a neighbour decides.
  if (before === undefined) {
    return [{ from: 0, to: length, offset: isJoinedAtEnd ? last.offset : offsetOf(chunks) }]
  }
  return isJoinedAtEnd && last.from < length ? [first, last] : [{ ...first, to: length }]
}

/**
 * The samples between two zones are stretched, unless that would more than halve or double their
 * duration.
 */
function separateZones(first: Zone, last: Zone): Zone[] {
  const between = last.from - first.to
  const isStretchable = Math.abs(last.offset - first.offset) <= between / 2
  return [isStretchable ? first : { ...first, to: last.from }, last]
}

function endOf(chunks: readonly TimedChunk[]): number {
  const last = chunks.at(-1)
  return last === undefined ? 0 : last.start + last.length
}

/** Chunks whose packets start within `span` samples of the last one. */
function lastChunks(chunks: readonly TimedChunk[], span: number): TimedChunk[] {
  const last = chunks.at(-1)?.position ?? 0
  return chunks.filter(({ position }) => position >= last - span)
}

/** Mean position of the run's first sample according to the packet times. */
function offsetOf(chunks: readonly TimedChunk[]): number {
  const sum = chunks.reduce((total, { position, start }) => total + (position - start), 0)
  return Math.floor(sum / Math.max(chunks.length, 1) + ROUNDING_BIAS)
}

function joinChunks({ chunks }: Run): Float32Array[] {
  const length = endOf(chunks)
  return (chunks[0]?.channels ?? []).map((_, channel) => {
    const joined = new Float32Array(length)
    for (const { channels, start } of chunks) joined.set(channels[channel] ?? [], start)
    return joined
  })
}
