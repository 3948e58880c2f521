// Builds a segment from recorded packets: tables, then ranges of the file.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { setsAt } from '../../codec/parameter-sets.ts'
import type { SplitPointRange } from '../../media-index.ts'
import type { Part, RangePart } from '../../media-reader.ts'
import { appendRange, holeTest, subtractRanges } from '../packets/byte-ranges.ts'
import {
  hasPayload,
  isUnitStart,
  packetPid,
  PID_COUNT,
  TS_PACKET_BYTES,
} from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { ALL, SMALL_CHUNK_BYTES, walkPackets } from '../packets/packet-walk.ts'
import { parsePmt, PAT_PID } from '../packets/program-table.ts'
import { readSetPackets } from './set-packets.ts'
import { packetizeSection } from '../packets/table-section.ts'
import { offsetOf, splitAtSections } from './gather-segment.ts'
import type { RecordedSegment } from './gather-segment.ts'
import type { TsSource } from '../ts-source.ts'

/** Parts of the segment. */
export async function readSegmentParts(
  file: OpenFile,
  source: TsSource,
  range: SplitPointRange,
): Promise<Part[]> {
  const parts: Part[] = []
  for (const chunk of splitAtSections(source, range)) {
    // Not spread into an argument list: there may be hundreds of thousands.
    for (const part of await readChunk(file, source, chunk)) parts.push(part)
  }
  return parts
}

async function readChunk(
  file: OpenFile,
  source: TsSource,
  chunk: RecordedSegment,
): Promise<Part[]> {
  const start = offsetOf(source, chunk.from)
  const end = offsetOf(source, chunk.to)
  const excluded = [
    ...(await findCarried(file, source, chunk.from)),
    ...(await findUnlisted(file, source, chunk)),
  ]
  const kept = subtractRanges(start, end, source.holes)
  const ranges: number[] = []
  const holes = joinSorted(excluded)
  for (let i = 0; i + 1 < kept.length; i += 2) {
    for (const edge of subtractRanges(kept[i] ?? 0, kept[i + 1] ?? 0, holes)) ranges.push(edge)
  }
  const carried = await findCarried(file, source, chunk.to)
  const sets = await findSets(file, source, chunk)
  return [
    tablesInFront(source, chunk),
    ...(sets ? [sets] : []),
    ...toParts(source, [...ranges, ...carried]),
  ]
}

/** The parameter sets that the first key frame needs and does not have. */
async function findSets(
  file: OpenFile,
  source: TsSource,
  { section: { videoPid: pid }, from }: RecordedSegment,
): Promise<Part | undefined> {
  const sets = setsAt(source.sets, from)
  if (pid === undefined || sets.length === 0) return undefined
  const range = { from: offsetOf(source, from), to: offsetOf(source, from + 1) }
  return readSetPackets(file, { pid, sets, packetBytes: source.packetBytes, ...range })
}

/** Packets after a split point that belong to the audio before it. */
async function findCarried(
  file: OpenFile,
  source: TsSource,
  splitPoint: number,
): Promise<number[]> {
  const carryBytes = source.carryBytes[splitPoint] ?? 0
  const before = source.sections.findLast((section) => section.firstSplitPoint < splitPoint)
  const audioPid = before?.audioPid
  if (carryBytes === 0 || audioPid === undefined) return []
  const from = offsetOf(source, splitPoint)
  return findPackets(file, source, {
    from,
    to: from + carryBytes,
    pids: new Set([audioPid]),
    accepts: ({ header }) => hasPayload(header) && !isUnitStart(header),
  })
}

/** Packets that generated tables do not list: those of other streams, and of recorded tables. */
async function findUnlisted(
  file: OpenFile,
  source: TsSource,
  chunk: RecordedSegment,
): Promise<number[]> {
  const { section } = chunk
  if (section.tables === 'verbatim') return []
  const { streams, pcrPid } = parsePmt(section.pmt) ?? { streams: [], pcrPid: -1 }
  const listed = new Set([pcrPid, ...streams.map(({ pid }) => pid)])
  const pids = Array.from({ length: PID_COUNT }, (_, pid) => pid)
  return findPackets(file, source, {
    from: offsetOf(source, chunk.from),
    to: offsetOf(source, chunk.to),
    pids: new Set(pids.filter((pid) => !listed.has(pid))),
    accepts: () => true,
  })
}

interface PacketsWanted {
  from: number
  to: number
  pids: ReadonlySet<number>
  accepts: (packet: PacketView) => boolean
}

async function findPackets(
  file: OpenFile,
  { packetBytes, holes }: TsSource,
  { from, to, pids, accepts }: PacketsWanted,
): Promise<number[]> {
  const interest = new Uint8Array(PID_COUNT)
  for (const pid of pids) interest[pid] = ALL
  const found: number[] = []
  // The walk also visits a truncated packet, whose end is in the next one.
  const isHole = holeTest(holes, from)
  function visit(packet: PacketView): 'continue' {
    const { position, header } = packet
    if (isHole(position)) return 'continue'
    if (pids.has(packetPid(header)) && accepts(packet)) {
      appendRange(found, position, position + packetBytes)
    }
    return 'continue'
  }
  const tsFile = { file, layout: { packetBytes, start: from } }
  await walkPackets(tsFile, { interest, visit }, { from, to, chunkBytes: SMALL_CHUNK_BYTES })
  return found
}

/** Sorts ranges, and joins those that overlap. */
function joinSorted(ranges: number[]): number[] {
  const pairs: { from: number; to: number }[] = []
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    pairs.push({ from: ranges[i] ?? 0, to: ranges[i + 1] ?? 0 })
  }
  const joined: number[] = []
  for (const { from, to } of pairs.sort((a, b) => a.from - b.from)) {
    const end = joined.at(-1) ?? -1
    if (from <= end) joined[joined.length - 1] = Math.max(end, to)
    else joined.push(from, to)
  }
  return joined
}

/**
 * PAT and PMT, so that the segment can be read alone (RFC 8216 3.2). With the counters of the last
 * ones before the split point they are duplicates for players that read on (ISO/IEC 13818-1
 * 2.4.3.3), and no counter jumps.
 */
function tablesInFront(source: TsSource, { section, from }: RecordedSegment): Part {
  const counters = section.tables === 'verbatim' ? (source.tableCounters[from] ?? 0) : 0
  const pat = packetizeSection(section.pat, PAT_PID, counters >>> 4)
  const pmt = packetizeSection(section.pmt, section.pmtPid, counters & 0x0f)
  const bytes = new Uint8Array(pat.length + pmt.length)
  bytes.set(pat)
  bytes.set(pmt, pat.length)
  return { kind: 'bytes', bytes }
}

function toParts({ packetBytes }: TsSource, ranges: number[]): RangePart[] {
  const parts: RangePart[] = []
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    const offset = ranges[i] ?? 0
    const end = ranges[i + 1] ?? 0
    const range = { kind: 'range', offset, length: end - offset } as const
    if (packetBytes === 188) parts.push(range)
    else if (packetBytes === 192) parts.push({ ...range, packing: 'm2ts' })
    else for (const packet of eachPacket(offset, end)) parts.push(packet)
  }
  return parts
}

/** Packets of 204 bytes one by one, without their parity. They are rare. */
function* eachPacket(from: number, end: number): Generator<RangePart> {
  for (let offset = from; offset < end; offset += 204) {
    yield { kind: 'range', offset, length: TS_PACKET_BYTES }
  }
}
