// Divides a segment at the sections of its recording, reads the packets of one once, and gathers
// the payloads of the wanted PIDs.
import { limitExceeded } from '../../../base/errors.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { SplitPointRange } from '../../media-index.ts'
import { ElementaryStream } from '../packets/elementary-stream.ts'
import { isUnitStart, packetPid, PID_COUNT } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { holeTest } from '../packets/byte-ranges.ts'
import { ALL, SMALL_CHUNK_BYTES, walkPackets } from '../packets/packet-walk.ts'
import type { TsSection, TsSource } from '../ts-source.ts'

/** At most this much of one stream is in memory. */
const MAX_STREAM_MB = 64
const MAX_STREAM_BYTES = MAX_STREAM_MB * 1024 * 1024
/** How far after a segment its audio may end, and the next frame may begin. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024
const CHUNK_BYTES = 8 * SMALL_CHUNK_BYTES

/** Split points of one section, and PIDs. */
export interface Wanted extends SplitPointRange {
  videoPid: number | undefined
  audioPids: readonly number[]
  /** Whether the bytes after the last split point belong to the same section. */
  goesOn: boolean
}

export interface Gathered {
  video: ElementaryStream | undefined
  /** In the order of the PIDs. */
  audioTracks: ElementaryStream[]
  /** Position of the last split point: bytes from there on belong to the next segment. */
  end: number
}

/**
 * Gathers the PES packets that begin between the split points. Of audio, it includes one PES packet
 * after them; of video, the start of the next frame.
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
  // Most of these bytes are video.
  const video =
    videoPid === undefined
      ? undefined
      : new ElementaryStream(videoPid, {
          limitBytes,
          expectedBytes: end - from,
          exceedsLengths: true,
        })
  const audioTracks = audioPids.map((pid) => new ElementaryStream(pid, { limitBytes }))
  const streams = new Map<number, Under>()
  const interest = new Uint8Array(PID_COUNT)
  for (const stream of [video, ...audioTracks]) {
    if (stream === undefined) continue
    streams.set(stream.pid, { stream, unitsBehind: 0, kind: stream === video ? 'video' : 'audio' })
    interest[stream.pid] = ALL
  }
  const holes = holeTest(source.holes, from)
  function visit(packet: PacketView): 'continue' | 'stop' {
    const under = streams.get(packetPid(packet.header))
    if (under === undefined || holes(packet.position)) return 'continue'
    if (packet.position >= end && takeBehind(under, packet, wanted) === 'done') {
      interest[under.stream.pid] = 0
      streams.delete(under.stream.pid)
    } else takeInto(under.stream, packet)
    return streams.size === 0 ? 'stop' : 'continue'
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

export function offsetOf({ offsets, endOffset }: TsSource, splitPoint: number): number {
  return offsets[splitPoint] ?? endOffset
}

/** Never past the next split point: appended bytes must not change a segment. */
function tailEnd(source: TsSource, splitPoint: number): number {
  return Math.min(offsetOf(source, splitPoint) + MAX_TAIL_BYTES, offsetOf(source, splitPoint + 1))
}

interface Under {
  stream: ElementaryStream
  kind: 'video' | 'audio'
  /** PES packets that began after the end. */
  unitsBehind: number
}

/** Whether a packet after the end of the segment is needed; `done` if none of its PID is. */
function takeBehind(under: Under, packet: PacketView, { goesOn }: Wanted): 'wanted' | 'done' {
  const { stream, kind } = under
  if (isUnitStart(packet.header) && !stream.repeats(packet)) {
    under.unitsBehind++
    return goesOn && under.unitsBehind === 1 ? 'wanted' : 'done'
  }
  // Of the next frame only its times are needed, of the next audio everything.
  const isEnough = kind === 'video' && under.unitsBehind === 1 && !stream.isHeaderOpen
  return isEnough || !(stream.isOpen || goesOn) ? 'done' : 'wanted'
}

function takeInto(stream: ElementaryStream, packet: PacketView): void {
  if (stream.take(packet) !== 'taken')
    throw limitExceeded('bytes-between-key-frames', MAX_STREAM_BYTES)
}

/** Split points of one section. */
export interface RecordedSegment extends SplitPointRange {
  section: TsSection
  /** Whether split points of the same section follow. */
  goesOn: boolean
}

export function splitAtSections(
  { sections, offsets }: TsSource,
  { from, to }: SplitPointRange,
): RecordedSegment[] {
  return sections.flatMap((section, i) => {
    const end = sections[i + 1]?.firstSplitPoint ?? offsets.length
    const range = { from: Math.max(from, section.firstSplitPoint), to: Math.min(to, end) }
    return range.from < range.to ? [{ ...range, section, goesOn: range.to < end }] : []
  })
}
