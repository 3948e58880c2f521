// Reads MPEG-TS segments like a player, and parses them without the product's code.
import type { MediaIndex } from '../../../server/media/media-index.ts'
import { SPLIT_DISCONTINUITY, SPLIT_FORCED } from '../../../server/media/media-index.ts'
import type { SplitPointRange } from '../../../server/media/media-index.ts'
import type { MediaReader, Part } from '../../../server/media/media-reader.ts'
import type { OpenFile } from '../../../server/storage/recordings/storage.ts'

/** Bytes of the segment with these split points. */
export async function readSegmentBytes(
  { reader, file, index }: { reader: MediaReader; file: OpenFile; index: MediaIndex },
  range: SplitPointRange,
): Promise<Uint8Array> {
  const content = await reader.readSegment(file, index, range)
  if (content.kind !== 'ts') throw new Error('the segment is not MPEG-TS')
  return Buffer.concat(await Promise.all(content.parts.map((part) => readPart(file, part))))
}

async function readPart(file: OpenFile, part: Part): Promise<Uint8Array> {
  if (part.kind === 'bytes') return part.bytes
  const bytes = new Uint8Array(part.length)
  await file.read(bytes, part.offset)
  if (part.packing === undefined) return bytes
  const packets: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += 192) packets.push(bytes.subarray(at + 4, at + 192))
  return Buffer.concat(packets)
}

/** Ranges of one split point each, without forced splits. */
export function everySplitPoint(index: MediaIndex): SplitPointRange[] {
  const { flags } = index.splitPoints
  const starts = [...flags.keys()].filter((splitPoint) => flags[splitPoint] !== SPLIT_FORCED)
  return starts.map((from, i) => ({ from, to: starts[i + 1] ?? flags.length }))
}

/** Ranges of `count` split points each, which end at discontinuities. */
export function groupedSplitPoints(index: MediaIndex, count: number): SplitPointRange[] {
  const total = index.splitPoints.startTicks.length
  const ranges: SplitPointRange[] = []
  for (let from = 0; from < total;) {
    let to = from + 1
    while (
      to < total &&
      to < from + count &&
      ((index.splitPoints.flags[to] ?? 0) & SPLIT_DISCONTINUITY) === 0
    )
      to++
    ranges.push({ from, to })
    from = to
  }
  return ranges
}

/** Packets of a PID in hex, in order. */
export function packetsOfPid(bytes: Uint8Array, pid: number): string[] {
  const packets: string[] = []
  for (let at = 0; at + 188 <= bytes.length; at += 188) {
    if (bytes[at] !== 0x47) throw new Error(`no sync at ${at}`)
    const own = (((bytes[at + 1] ?? 0) & 0x1f) << 8) | (bytes[at + 2] ?? 0)
    if (own === pid) packets.push(Buffer.from(bytes.subarray(at, at + 188)).toString('hex'))
  }
  return packets
}

/** PIDs of a segment's packets, in order. */
export function pidsOf(bytes: Uint8Array): number[] {
  const pids: number[] = []
  for (let at = 0; at + 188 <= bytes.length; at += 188) {
    pids.push((((bytes[at + 1] ?? 0) & 0x1f) << 8) | (bytes[at + 2] ?? 0))
  }
  return pids
}
