// What tells a recording that grows: bytes of its beginning, and those before the last place that is known to stay.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { readRangeHash } from './identity.ts'
import type { MediaIndex } from '../media-index.ts'
import type { MediaReader, Part, SampleRun } from '../media-reader.ts'

/** Some bytes of a file, and what they are to be. */
export interface MarkedBytes {
  offset: number
  length: number
  hash: string
}

/** A plain value. Both marks lie in bytes that stay, whatever is appended. */
export interface GrowthMark {
  /** The first of the media: the same for as long as the recording lives. */
  start: MarkedBytes
  /** The last that belongs to a segment which may be listed: with it, all of them are still there. */
  tail: MarkedBytes
}

const TAIL_BYTES = 4096
const MAX_START_BYTES = 64 * 1024

/** The marks of a recording as it was indexed; undefined where nothing is known to stay yet. */
export async function readGrowthMark(
  file: OpenFile,
  index: MediaIndex,
  reader: MediaReader,
): Promise<GrowthMark | undefined> {
  const { growth } = index
  if (growth === undefined || growth.stableSplitPoints < 2 || growth.stableRange.length === 0) {
    return undefined
  }
  const { offset, length } = growth.stableRange
  const start = await markBytes(file, offset, Math.min(length, MAX_START_BYTES))
  const last = growth.stableSplitPoints - 1
  const content = await reader.readSegment(file, index, { from: last - 1, to: last })
  const end = Math.max(
    offset + start.length,
    content.kind === 'ts' ? endOfParts(content.parts) : Math.max(0, ...content.runs.map(endOfRun)),
  )
  const tailBytes = Math.min(TAIL_BYTES, end - offset)
  return { start, tail: await markBytes(file, end - tailBytes, tailBytes) }
}

/** Whether the file still holds these bytes. */
export async function hasBytes(file: OpenFile, { hash, ...range }: MarkedBytes): Promise<boolean> {
  return (await readRangeHash(file, range)) === hash
}

/** Whether the file is the recording that was marked, as it was or longer. */
export async function isContinued(file: OpenFile, { start, tail }: GrowthMark): Promise<boolean> {
  return (await hasBytes(file, tail)) && hasBytes(file, start)
}

async function markBytes(file: OpenFile, offset: number, length: number): Promise<MarkedBytes> {
  const hash = await readRangeHash(file, { offset, length })
  if (hash === undefined)
    throw new AppError('failed', 'the recording became shorter while it was read')
  return { offset, length, hash }
}

function endOfParts(parts: readonly Part[]): number {
  return parts.reduce(
    (end, part) => (part.kind === 'range' ? Math.max(end, part.offset + part.length) : end),
    0,
  )
}

function endOfRun({ offsets, sizes }: SampleRun): number {
  return offsets === undefined
    ? 0
    : offsets.reduce((end, offset, i) => Math.max(end, offset + (sizes[i] ?? 0)), 0)
}
