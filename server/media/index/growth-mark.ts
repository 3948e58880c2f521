// The fingerprint of a growing recording: hashes of its first media bytes and of the last bytes
// that are final.
import { AppError } from '../../base/errors.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { readRangeHash } from './identity.ts'
import type { MediaIndex } from '../media-index.ts'
import type { MediaReader, Part, SampleRun } from '../media-reader.ts'

/** A byte range with its expected hash. */
export interface MarkedBytes {
  offset: number
  length: number
  hash: string
}

/** A plain value. Both ranges are in bytes that do not change when the recording grows. */
export interface GrowthMark {
  /** The first media bytes: constant for the life of the recording. */
  start: MarkedBytes
  /**
   * The end of the last segment that a playlist may list: if it is unchanged, all listed segments
   * are.
   */
  tail: MarkedBytes
}

const TAIL_BYTES = 4096
const MAX_START_BYTES = 64 * 1024

/** The fingerprint of an indexed recording; undefined while it has no stable segment. */
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

export async function hasBytes(file: OpenFile, { hash, ...range }: MarkedBytes): Promise<boolean> {
  return (await readRangeHash(file, range)) === hash
}

/** Exclusive. */
export function endOf({ offset, length }: Pick<MarkedBytes, 'offset' | 'length'>): number {
  return offset + length
}

/** Whether the file is the recording of the fingerprint, of the same size or longer. */
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
