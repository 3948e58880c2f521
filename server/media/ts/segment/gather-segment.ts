// Reads the packets of a segment once, and gathers what each of the wanted PIDs carries there.
import { UnplayableError } from '../../../errors.ts'
import type { OpenFile } from '../../../storage/storage.ts'
import type { SplitPointRange } from '../../media-index.ts'
import { ElementaryStream } from '../packets/elementary-stream.ts'
import { isUnitStart, packetPid, PID_COUNT } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { ALL, SMALL_CHUNK_BYTES, walkPackets } from '../packets/packet-walk.ts'
import type { TsSource } from '../ts-source.ts'

/** More than this of one stream is not held in memory. */
const MAX_STREAM_MB = 64
const MAX_STREAM_BYTES = MAX_STREAM_MB * 1024 * 1024
/** How far behind a segment its sound may end, and the next picture may begin. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024
const CHUNK_BYTES = 8 * SMALL_CHUNK_BYTES

/** What is gathered: cuts of one section, and PIDs. */
export interface Wanted extends SplitPointRange {
  videoPid: number | undefined
  audioPids: readonly number[]
  /** Whether what lies behind the last cut is of the same section. */
  goesOn: boolean
}

export interface Gathered {
  video: ElementaryStream | undefined
  /** In the order of `soundPids`. */
  audioTracks: ElementaryStream[]
  /** Position of the last cut: what begins there or behind it is of the next segment. */
  end: number
}

/**
 * Gathers what begins in the cuts: of each sound also the rest of what began there, up to the end of one PES packet
 * behind it; of the video the start of the picture behind.
 */
export async function gatherSegment(
  file: OpenFile,
  source: TsSource,
  wanted: Wanted,
): Promise<Gathered> {
  const { videoPid, audioPids } = wanted
  const from = offsetOf(source, wanted.from)
  const end = offsetOf(source, wanted.to)
  const limitBytes = MAX_STREAM_BYTES
  // Most of what lies between the cuts is pictures.
  const video =
    videoPid === undefined
      ? undefined
      : new ElementaryStream(videoPid, { limitBytes, expectedBytes: end - from })
  const audioTracks = audioPids.map((pid) => new ElementaryStream(pid, { limitBytes }))
  const streams = new Map<number, Under>()
  const interest = new Uint8Array(PID_COUNT)
  for (const stream of [video, ...audioTracks]) {
    if (stream === undefined) continue
    streams.set(stream.pid, { stream, unitsBehind: 0, kind: stream === video ? 'video' : 'audio' })
    interest[stream.pid] = ALL
  }
  const holes = holeTest(source.holes, from)
  function visit(packet: PacketView): 'go on' | 'stop' {
    const under = streams.get(packetPid(packet.header))
    if (under === undefined || holes(packet.position)) return 'go on'
    if (packet.position >= end && takeBehind(under, packet, wanted) === 'done') {
      interest[under.stream.pid] = 0
      streams.delete(under.stream.pid)
    } else takeInto(under.stream, packet)
    return streams.size === 0 ? 'stop' : 'go on'
  }
  const tsFile = { file, layout: { packetBytes: source.packetBytes, start: from } }
  await walkPackets(
    tsFile,
    { interest, visit },
    { from, to: tailEnd(source, wanted.to), chunkBytes: CHUNK_BYTES },
  )
  video?.close()
  for (const audio of audioTracks) audio.close()
  return { video, audioTracks, end }
}

function offsetOf({ offsets, endOffset }: TsSource, splitPoint: number): number {
  return offsets[splitPoint] ?? endOffset
}

/** Never beyond the next cut, so that what a segment is made of does not depend on what is appended later. */
function tailEnd(source: TsSource, splitPoint: number): number {
  return Math.min(offsetOf(source, splitPoint) + MAX_TAIL_BYTES, offsetOf(source, splitPoint + 1))
}

interface Under {
  stream: ElementaryStream
  kind: 'video' | 'audio'
  /** PES packets that began behind the end. */
  unitsBehind: number
}

/** Whether a packet behind the segment's end is of use still; `done` where nothing more of its PID is. */
function takeBehind(under: Under, { header }: PacketView, { goesOn }: Wanted): 'wanted' | 'done' {
  const { stream, kind } = under
  if (isUnitStart(header)) {
    under.unitsBehind++
    return goesOn && under.unitsBehind === 1 ? 'wanted' : 'done'
  }
  // Of the next picture its times alone are of interest, of the next sound all.
  const isEnough = kind === 'video' && under.unitsBehind === 1 && !stream.isHeaderOpen
  return isEnough || !(stream.isOpen || goesOn) ? 'done' : 'wanted'
}

function takeInto(stream: ElementaryStream, packet: PacketView): void {
  if (stream.take(packet) === 'taken') return
  throw new UnplayableError({
    code: 'limit-exceeded',
    limit: 'bytes-between-key-frames',
    max: MAX_STREAM_BYTES,
  })
}

/** Tells whether a position lies in a hole; asked with positions in order, from `from`. */
function holeTest(holes: Float64Array, from: number): (position: number) => boolean {
  let next = 0
  while (next + 1 < holes.length && (holes[next + 1] ?? 0) <= from) next += 2
  return (position) => {
    while (next + 1 < holes.length && (holes[next + 1] ?? 0) <= position) next += 2
    return next + 1 < holes.length && (holes[next] ?? 0) <= position
  }
}
