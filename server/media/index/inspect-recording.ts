// Inspects a recording: reads its index and its identity.
import { closingAsync } from '../../base/closing.ts'
import { UnplayableError } from '../../base/errors.ts'
import type { UnplayableReason } from '../../base/problem.ts'
import type { BufferedFiles } from '../../storage/recordings/buffered-files.ts'
import { ConcatenatedFile } from '../../storage/recordings/concatenated-file.ts'
import type { RangeList } from '../../storage/recordings/range-list.ts'
import type { FileStat, OpenFile, Storage } from '../../storage/recordings/storage.ts'
import { isContinued, readGrowthMark } from './growth-mark.ts'
import type { GrowthMark } from './growth-mark.ts'
import { readIdentity } from './identity.ts'
import type { MediaIndex } from '../media-index.ts'
import type { MediaReader } from '../media-reader.ts'
import type { MediaReaders } from '../readers.ts'

/** The index of a recording, or why it is unplayable. A plain value. */
export type Inspection =
  | {
      status: 'playable'
      /** Identity of the whole file, and whether that covers each of its bytes. */
      identity: string
      isExact: boolean
      index: MediaIndex
      /** Fingerprint while it grows; absent if it cannot grow, or has no stable segment yet. */
      mark?: GrowthMark
    }
  | { status: 'unplayable'; reason: UnplayableReason }

/** The inspection of a recording when it was shorter. */
export interface KnownRecording {
  index: MediaIndex
  mark: GrowthMark
}

/** What is known about a recording before its inspection. */
export interface InspectionFacts {
  /** If the file continues it, only appended bytes are read. */
  previous?: KnownRecording | undefined
  /** Of a run of a recorder's playlist: its segments, which are not listed again. */
  ranges?: RangeList | undefined
}

export interface InspectionOptions extends InspectionFacts {
  storage: Storage
  readers: MediaReaders
  signal: AbortSignal
  /** Reads small recordings once. Default: indexing and hashing read their bytes separately. */
  buffered?: BufferedFiles
}

/**
 * Inspects the recording at `path`. Throws if it cannot be read; an unplayable one is a result, not
 * an error.
 */
export async function inspectRecording(
  path: string,
  { storage, ranges, buffered, ...options }: InspectionOptions,
): Promise<{ inspection: Inspection; stat: FileStat }> {
  const { signal } = options
  const file =
    ranges === undefined
      ? await storage.open(path, { signal })
      : new ConcatenatedFile(storage, ranges)
  const inspect = async (readable: OpenFile): Promise<Inspection> => inspectFile(readable, options)
  await using _closing = closingAsync(file)
  const inspection = await (buffered?.use(file, inspect) ?? inspect(file))
  return { inspection, stat: file.stat }
}

async function inspectFile(
  file: OpenFile,
  { readers, signal, previous }: Pick<InspectionOptions, 'readers' | 'signal' | 'previous'>,
): Promise<Inspection> {
  try {
    if (previous !== undefined && (await isContinued(file, previous.mark))) {
      return await describe(file, await extend(file, { readers, signal, previous }))
    }
    const reader = await readers.forFile(file)
    return await describe(file, { reader, index: await reader.index(file, signal) })
  } catch (error) {
    if (!(error instanceof UnplayableError)) throw error
    return { status: 'unplayable', reason: error.reason }
  }
}

interface IndexedFile {
  reader: MediaReader
  index: MediaIndex
}

/**
 * Listed segments stay listed whatever is appended: if that is unplayable, the previous index
 * remains valid.
 */
async function extend(
  file: OpenFile,
  {
    readers,
    signal,
    previous,
  }: { readers: MediaReaders; signal: AbortSignal; previous: KnownRecording },
): Promise<IndexedFile> {
  const reader = readers.forIndex(previous.index)
  try {
    return { reader, index: await reader.index(file, signal, previous.index) }
  } catch (error) {
    if (!(error instanceof UnplayableError)) throw error
    return { reader, index: previous.index }
  }
}

async function describe(file: OpenFile, { reader, index }: IndexedFile): Promise<Inspection> {
  const mark = await readGrowthMark(file, index, reader)
  return { status: 'playable', ...(await readIdentity(file, index)), index, ...(mark && { mark }) }
}
