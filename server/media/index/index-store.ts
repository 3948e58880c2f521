// Keeps what inspections found: in memory up to a bound, and in a side file each, so that a restart reads nothing anew.
// Of a recording that grows, only what was added is read.
import { LRUCache } from 'lru-cache'
import { AppError } from '../../errors.ts'
import type { FileStat } from '../../storage/storage.ts'
import type { ThreadResult } from './index-thread.ts'
import type { Inspection, KnownRecording } from './inspect-recording.ts'
import { IndexFiles } from './index-files.ts'

/** Indexes in memory, by their size on disk. */
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
/** What a cut takes in the largest of the indexes. */
const SPLIT_POINT_BYTES = 64
const LEAST_BYTES = 4096
/** A recording that grows is looked at again so often, however many ask. */
const RECENT_MS = 1000
/** The side file of a recording that grows is written so often. */
const STORE_EVERY_MS = 30_000

export interface IndexStoreOptions {
  /** Folder of the side files. */
  folder: string
  inspect(path: string, signal: AbortSignal, previous?: KnownRecording): Promise<ThreadResult>
  /** Whether a recording has been still for so long that it counts as finished. */
  isSettled(stat: FileStat): boolean
  /** Told when a side file could not be written; the site goes on without it. */
  onWriteError(error: unknown): void
}

/** An inspection, and the file as it was then. */
export interface FoundRecording {
  readonly inspection: Inspection
  readonly stat: FileStat
}

interface Kept extends FoundRecording {
  memoryBytes: number
  foundMs: number
  /** When its side file was written; undefined: it holds less, or nothing. */
  storedMs: number | undefined
  isStored: boolean
}

interface Flight {
  stat: FileStat
  found: Promise<Kept>
}

/** Finds the inspection of a recording: remembered, on disk, or made now. One at a time for each path. */
export class IndexStore {
  readonly #options: IndexStoreOptions
  readonly #indexFiles: IndexFiles
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_MEMORY_BYTES,
    sizeCalculation: ({ memoryBytes }) => memoryBytes,
  })
  readonly #inFlight = new Map<string, Flight>()

  constructor(options: IndexStoreOptions) {
    this.#options = options
    this.#indexFiles = new IndexFiles(options.folder)
  }

  /**
   * The inspection of the recording at `path` with this size and time; of one that grows, as it is by now.
   *
   * @throws AppError `gone` where the file is another by now; whatever `inspect` throws
   */
  async find(path: string, stat: FileStat, signal: AbortSignal): Promise<FoundRecording> {
    for (;;) {
      const kept = this.#kept.get(path)
      if (kept !== undefined && answers(kept, stat)) {
        if (!kept.isStored && this.#options.isSettled(kept.stat)) await this.#store(path, kept)
        return kept
      }
      const flight = this.#inFlight.get(path)
      if (flight === undefined) return this.#begin(path, stat, signal)
      if (isSame(flight.stat, stat)) return flight.found
      // Another state of the same file: what comes of it may answer this as well.
      await flight.found.catch(() => undefined)
    }
  }

  /** As `find`, but of a recording that grows, what was found a moment ago is good enough. */
  async findRecent(path: string, stat: FileStat, signal: AbortSignal): Promise<FoundRecording> {
    const kept = this.#kept.get(path)
    const isRecent = kept !== undefined && performance.now() - kept.foundMs < RECENT_MS
    return isRecent && markOf(kept) !== undefined && kept.stat.sizeBytes <= stat.sizeBytes
      ? kept
      : this.find(path, stat, signal)
  }

  async #begin(path: string, stat: FileStat, signal: AbortSignal): Promise<Kept> {
    const found = this.#load(path, stat, signal).finally(() => this.#inFlight.delete(path))
    this.#inFlight.set(path, { stat, found })
    return found
  }

  async #load(path: string, stat: FileStat, signal: AbortSignal): Promise<Kept> {
    const known = this.#kept.get(path) ?? (await this.#loadStored(path))
    if (known !== undefined && answers(known, stat)) return this.#keep(path, known)
    const previous = known && continuable(known)
    const found = await this.#options.inspect(path, signal, previous)
    if (!isAsked(found, stat)) {
      throw new AppError('gone', 'the recording was replaced while it was read')
    }
    const kept: Kept = {
      ...found,
      memoryBytes: memoryBytes(found.inspection),
      foundMs: performance.now(),
      storedMs: previous && known?.storedMs,
      isStored: false,
    }
    if (this.#isToBeStored(kept)) await this.#store(path, kept)
    return this.#keep(path, kept)
  }

  async #loadStored(path: string): Promise<Kept | undefined> {
    const stored = await this.#indexFiles.read(path)
    return stored && { ...stored, foundMs: -Infinity, storedMs: performance.now(), isStored: true }
  }

  #isToBeStored(kept: Kept): boolean {
    const { storedMs } = kept
    return (
      storedMs === undefined ||
      performance.now() - storedMs > STORE_EVERY_MS ||
      this.#options.isSettled(kept.stat)
    )
  }

  /** A disk that is full costs only the restart. */
  async #store(path: string, kept: Kept): Promise<void> {
    const { inspection, stat } = kept
    kept.isStored = true
    kept.storedMs = performance.now()
    try {
      await this.#indexFiles.write(path, { inspection, stat })
    } catch (error) {
      this.#options.onWriteError(error)
    }
  }

  #keep(path: string, kept: Kept): Kept {
    this.#kept.set(path, kept)
    return kept
  }
}

function isSame(a: FileStat, b: FileStat): boolean {
  return a.sizeBytes === b.sizeBytes && a.modifiedMs === b.modifiedMs
}

function isAsNew(a: FileStat, b: FileStat): boolean {
  return a.sizeBytes >= b.sizeBytes && a.modifiedMs >= b.modifiedMs
}

/** Whether what is kept tells of a file that was asked for with this stat. */
function answers({ inspection, stat }: FoundRecording, asked: FileStat): boolean {
  if (isSame(stat, asked)) return true
  // With the same size and another time it is what some recorders leave: the time of the broadcast, set when all is written.
  return canGrow(inspection) && stat.sizeBytes > asked.sizeBytes && isAsNew(stat, asked)
}

/** While it was read the file may have grown, but not become another. */
function isAsked({ inspection, stat }: FoundRecording, asked: FileStat): boolean {
  if (isSame(stat, asked)) return true
  return (inspection.status === 'unplayable' || canGrow(inspection)) && isAsNew(stat, asked)
}

function canGrow(inspection: Inspection): boolean {
  return inspection.status === 'playable' && inspection.index.growth !== undefined
}

function markOf({ inspection }: FoundRecording) {
  return inspection.status === 'playable' ? inspection.mark : undefined
}

function continuable({ inspection }: FoundRecording): KnownRecording | undefined {
  if (inspection.status === 'unplayable') return undefined
  const { index, mark } = inspection
  return mark && { index, mark }
}

function memoryBytes(inspection: Inspection): number {
  if (inspection.status === 'unplayable') return LEAST_BYTES
  const { splitPoints, subtitles = [] } = inspection.index
  const cues = subtitles.reduce(
    (sum, text) =>
      text.cues.reduce((bytes, cue) => bytes + SPLIT_POINT_BYTES + cue.text.length, sum),
    0,
  )
  return LEAST_BYTES + splitPoints.flags.length * SPLIT_POINT_BYTES + cues
}
