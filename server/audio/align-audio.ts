// Finds where decoded samples belong on the session's timeline, from packet times that may be rounded, drift, or leave gaps.
import { SHARED_SECONDS } from './audio-job.ts'
import type { AudioJob } from './audio-job.ts'

/** Samples that a decoder gave at once. */
export interface AudioChunk {
  channels: Float32Array[]
  sampleRate: number
  /** Number of the packet whose time is that of the first sample; undefined where the samples go on. */
  packet: number | undefined
}

/** Sound without a gap, and where it belongs. */
export interface PlacedRun {
  sampleRate: number
  channels: Float32Array[]
  /** In order, without overlap. Between two zones the offset goes over from one's to the other's. */
  zones: Zone[]
}

/** Samples `from` to `to` of a run lie at `offset` + their number, in samples since the session's time 0. */
export interface Zone {
  from: number
  to: number
  offset: number
}

/** Neighbouring packets whose times are further apart than their sound is long leave a gap; less is jitter. */
const MAX_JITTER_SECONDS = 0.05
/**
 * Keeps rounding from a tie, which two pieces that count from different packets could break differently.
 */
const ROUND_UP = 0.4997

/** A chunk in its run. */
interface TimedChunk {
  channels: Float32Array[]
  packet: number
  /** Number of its first sample in the run. */
  start: number
  length: number
  /** What its packet's time says of where the first sample belongs, in samples. */
  position: number
}

interface Run {
  sampleRate: number
  chunks: TimedChunk[]
}

type RecordedSegment = Pick<AudioJob, 'packets' | 'leadInPackets' | 'end'>

/**
 * Places all chunks. Positions are whole samples, smoothed over half a second of packets; where two ends of a run disagree
 * (drift), the middle is stretched. Two pieces that share the packets around a joint place these alike: the zone in
 * front of a joint depends on just the packets of half a second before it.
 */
export function placeAudio(chunks: readonly AudioChunk[], chunk: RecordedSegment): PlacedRun[] {
  const runs = splitRuns(chunks, chunk.packets)
  const joint = runs.findLastIndex((run) => leadIn(run, chunk).length > 0)
  return runs.map((run, number) => {
    const isJoinedAtEnd = chunk.end === 'joined' && number === runs.length - 1
    const zones = planZones(run, {
      before: number === joint ? leadIn(run, chunk) : undefined,
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
    const said = packet === undefined ? undefined : ticks[packet]
    const position = said === undefined ? expected : (said / timescale) * sampleRate
    const length = channels[0]?.length ?? 0
    const goesOn =
      run?.sampleRate === sampleRate &&
      Math.abs(position - expected) <= MAX_JITTER_SECONDS * sampleRate
    const start = goesOn && last !== undefined ? last.start + last.length : 0
    const chunk = { channels, packet: packet ?? last?.packet ?? 0, start, length, position }
    if (goesOn) run.chunks.push(chunk)
    else runs.push({ sampleRate, chunks: [chunk] })
  }
  return runs
}

/** The run's chunks in front of the joint with the piece before. */
function leadIn(run: Run, { leadInPackets }: RecordedSegment): TimedChunk[] {
  return run.chunks.filter(({ packet }) => packet < leadInPackets)
}

interface Joints {
  /** Chunks that the piece before has as well; undefined where the run begins in this piece. */
  before: TimedChunk[] | undefined
  isJoinedAtEnd: boolean
}

function planZones(run: Run, { before, isJoinedAtEnd }: Joints): Zone[] {
  const { chunks, sampleRate } = run
  const length = endOf(chunks)
  const span = SHARED_SECONDS * sampleRate
  const tail = lastChunks(chunks, span)
  const head = before ?? chunks.filter(({ start }) => start < span)
  const first = { from: 0, to: endOf(head), offset: offsetOf(lastChunks(head, span)) }
  const last = { from: Math.max(tail[0]?.start ?? 0, first.to), to: length, offset: offsetOf(tail) }
  if ((tail[0]?.start ?? 0) >= first.to) return separateZones(first, last)
  // Too short for two opinions: those that are shared with a neighbour count.
  if (before === undefined) {
    return [{ from: 0, to: length, offset: isJoinedAtEnd ? last.offset : offsetOf(chunks) }]
  }
  return isJoinedAtEnd && last.from < length ? [first, last] : [{ ...first, to: length }]
}

/** What lies between two zones is stretched, unless that would more than halve or double its length. */
function separateZones(first: Zone, last: Zone): Zone[] {
  const between = last.from - first.to
  const isStretchable = Math.abs(last.offset - first.offset) <= between / 2
  return [isStretchable ? first : { ...first, to: last.from }, last]
}

function endOf(chunks: readonly TimedChunk[]): number {
  const last = chunks.at(-1)
  return last === undefined ? 0 : last.start + last.length
}

/** Those whose packets begin within `span` samples of the last one's. */
function lastChunks(chunks: readonly TimedChunk[], span: number): TimedChunk[] {
  const last = chunks.at(-1)?.position ?? 0
  return chunks.filter(({ position }) => position >= last - span)
}

/** What the chunks' packets say in the mean of where the run's first sample belongs. */
function offsetOf(chunks: readonly TimedChunk[]): number {
  const sum = chunks.reduce((total, { position, start }) => total + (position - start), 0)
  return Math.floor(sum / Math.max(chunks.length, 1) + ROUND_UP)
}

function joinChunks({ chunks }: Run): Float32Array[] {
  const length = endOf(chunks)
  return (chunks[0]?.channels ?? []).map((_, channel) => {
    const joined = new Float32Array(length)
    for (const { channels, start } of chunks) joined.set(channels[channel] ?? [], start)
    return joined
  })
}
