// Caches inspections: in memory up to a limit, in index files, which survive a restart, and among
// the artifacts that nodes share. Of a growing recording, only appended bytes are read.
import { LRUCache } from 'lru-cache'
import type { SharedArtifacts } from '../../storage/artifacts/shared-artifacts.ts'
import { runShared } from '../../base/admission/client.ts'
import { AppError } from '../../base/errors.ts'
import type { FileStat } from '../../storage/recordings/storage.ts'
import type { ThreadResult } from './index-thread.ts'
import type { Inspection, KnownRecording } from './inspect-recording.ts'
import { decodeIndex, encodeIndex, indexArtifact, IndexFiles } from './index-files.ts'

const DEFAULT_MEMORY_BYTES = 64 * 1024 * 1024
/** Bytes per split point in the largest index. */
const SPLIT_POINT_BYTES = 64
const BASE_BYTES = 4096
/** A growing recording is checked at most this often, whatever the number of requests. */
const RECENT_MS = 1000
/** How often the index file of a growing recording is written. */
const STORE_EVERY_MS = 30_000
/** Limit of the index files where nodes share indexes: others can be read again. */
const MAX_FILE_BYTES = 4 * 1024 * 1024 * 1024

export interface IndexStoreOptions {
  /** Folder of the index files. */
  folder: string
  /** `read`: inspections stay in memory, and are not shared. Default `write`. */
  access?: 'read' | 'write'
  /** Limit of the memory cache; default 64 MiB. */
  maxMemoryBytes?: number | undefined
  inspect(path: string, signal: AbortSignal, previous?: KnownRecording): Promise<ThreadResult>
  /**
   * Waits until the process that indexes has stored the index of a recording; also resolves if it
   * cannot. Default: this process indexes.
   */
  awaitIndex?: ((path: string, signal: AbortSignal) => Promise<void>) | undefined
  /** Whether a recording has been unchanged for long enough to be finished. */
  isSettled(stat: FileStat): boolean
  /** Called if an index file could not be written; the inspection is served anyway. */
  onWriteError(error: unknown): void
  /** The indexes that nodes share. Default none. */
  shared?: SharedIndexes | undefined
}

export interface SharedIndexes {
  artifacts: SharedArtifacts
  /** Whether a recording with this stat does not change any more. */
  isFinal(stat: FileStat): boolean
}

/** An inspection, with the file stat it is valid for. */
export interface FoundRecording {
  readonly inspection: Inspection
  readonly stat: FileStat
}

interface CachedInspection extends FoundRecording {
  memoryBytes: number
  foundMs: number
  /** When its index file was written; undefined if there is none. */
  storedMs: number | undefined
  isStored: boolean
  /** It is among the shared ones, or will be. */
  isShared: boolean
}

interface Flight {
  stat: FileStat
  found: Promise<CachedInspection>
  join: () => void
}

/**
 * Finds the inspection of a recording in memory, on disk, among the shared ones or by inspecting
 * it; one inspection per path at a time.
 */
export class IndexStore {
  readonly #options: IndexStoreOptions
  readonly #indexFiles: IndexFiles
  readonly #cached: LRUCache<string, CachedInspection>
  readonly #inFlight = new Map<string, Flight>()

  constructor(options: IndexStoreOptions) {
    this.#options = options
    this.#indexFiles = new IndexFiles(options.folder, options.shared && MAX_FILE_BYTES)
    this.#cached = new LRUCache({
      maxSize: options.maxMemoryBytes ?? DEFAULT_MEMORY_BYTES,
      sizeCalculation: ({ memoryBytes: bytes }) => bytes,
    })
  }

  /**
   * The inspection of the recording at `path` with this stat; a growing recording may have a newer
   * one.
   *
   * @throws AppError `gone` if the file was replaced; whatever `inspect` throws
   */
  async find(path: string, stat: FileStat, signal: AbortSignal): Promise<FoundRecording> {
    for (;;) {
      const cached = this.#cached.get(path)
      if (cached !== undefined && isFresh(cached, stat)) {
        if (!cached.isStored && this.#options.isSettled(cached.stat))
          await this.#store(path, cached)
        this.#share(path, cached)
        return cached
      }
      const flight = this.#inFlight.get(path)
      if (flight === undefined) return this.#startLoad(path, stat, signal)
      flight.join()
      if (isSame(flight.stat, stat)) return flight.found
      // Concurrent request with another stat of the same file: its result may be fresh enough.
      await flight.found.catch(() => undefined)
    }
  }

  /** Like `find`, but accepts a recent inspection of a growing recording. */
  async findRecent(path: string, stat: FileStat, signal: AbortSignal): Promise<FoundRecording> {
    const cached = this.#cached.get(path)
    const isRecent = cached !== undefined && performance.now() - cached.foundMs < RECENT_MS
    return isRecent && growthMark(cached) !== undefined && cached.stat.sizeBytes <= stat.sizeBytes
      ? cached
      : this.find(path, stat, signal)
  }

  async #startLoad(path: string, stat: FileStat, signal: AbortSignal): Promise<CachedInspection> {
    const { result: found, join } = runShared(async () =>
      this.#load(path, stat, signal).finally(() => this.#inFlight.delete(path)),
    )
    this.#inFlight.set(path, { stat, found, join })
    return found
  }

  async #load(path: string, stat: FileStat, signal: AbortSignal): Promise<CachedInspection> {
    let known = this.#cached.get(path) ?? (await this.#loadStored(path))
    if (known !== undefined && isFresh(known, stat)) return this.#cacheInspection(path, known)
    let previous = known && this.#resumable(known, stat)
    // What this node has listed is in its own index of a growing recording.
    const isContinued = previous !== undefined && stat.isImmutable !== true
    const shared = isContinued ? undefined : await this.#loadShared(path, stat, signal)
    if (shared !== undefined) return shared
    if (previous === undefined && this.#options.awaitIndex !== undefined) {
      await this.#options.awaitIndex(path, signal)
      known = await this.#loadStored(path)
      if (known !== undefined && isFresh(known, stat)) return this.#cacheInspection(path, known)
      previous = known && this.#resumable(known, stat)
    }
    const found = await this.#options.inspect(path, signal, previous)
    if (!matchesRequest(found, stat)) {
      throw new AppError('gone', 'the recording was replaced while it was read')
    }
    const cached: CachedInspection = {
      ...found,
      memoryBytes: memoryBytes(found.inspection),
      foundMs: performance.now(),
      storedMs: previous && known?.storedMs,
      isStored: false,
      isShared: false,
    }
    if (this.#shouldStore(cached)) await this.#store(path, cached)
    return this.#cacheInspection(path, cached)
  }

  async #loadStored(path: string): Promise<CachedInspection | undefined> {
    const stored = await this.#indexFiles.read(path)
    return (
      stored && {
        ...stored,
        foundMs: -Infinity,
        storedMs: performance.now(),
        isStored: true,
        isShared: false,
      }
    )
  }

  /** The index that another node, or this one, has made of this version of the recording. */
  async #loadShared(
    path: string,
    stat: FileStat,
    signal: AbortSignal,
  ): Promise<CachedInspection | undefined> {
    const { shared } = this.#options
    if (shared?.isFinal(stat) !== true) return undefined
    const bytes = await shared.artifacts.read(indexArtifact(path, stat), signal)
    const stored = bytes && decodeIndex(bytes, path)
    if (stored === undefined || !isSame(stored.stat, stat)) return undefined
    const cached: CachedInspection = {
      ...stored,
      foundMs: performance.now(),
      storedMs: undefined,
      isStored: false,
      isShared: true,
    }
    await this.#store(path, cached)
    return this.#cacheInspection(path, cached)
  }

  #share(path: string, cached: CachedInspection): void {
    const { shared, access } = this.#options
    if (shared === undefined || access === 'read') return
    if (cached.isShared || !shared.isFinal(cached.stat)) return
    cached.isShared = true
    const { inspection, stat, memoryBytes: sizeBytes } = cached
    const make = (): Uint8Array => encodeIndex(path, { inspection, stat })
    shared.artifacts.share(indexArtifact(path, stat), { sizeBytes, make })
  }

  /** A file that was finished and has the same size was not continued, but replaced or changed. */
  #resumable(known: FoundRecording, requested: FileStat): KnownRecording | undefined {
    if (known.inspection.status === 'unplayable') return undefined
    const hasGrown = requested.sizeBytes > known.stat.sizeBytes
    if (!hasGrown && this.#options.isSettled(known.stat)) return undefined
    const { index, mark } = known.inspection
    return mark && { index, mark }
  }

  #shouldStore(cached: CachedInspection): boolean {
    const { storedMs } = cached
    return (
      storedMs === undefined ||
      performance.now() - storedMs > STORE_EVERY_MS ||
      this.#options.isSettled(cached.stat)
    )
  }

  /** If the disk is full, only a restart becomes slower. */
  async #store(path: string, cached: CachedInspection): Promise<void> {
    const { inspection, stat } = cached
    cached.isStored = true
    cached.storedMs = performance.now()
    if (this.#options.access === 'read') return
    try {
      await this.#indexFiles.write(path, { inspection, stat })
    } catch (error) {
      this.#options.onWriteError(error)
    }
  }

  #cacheInspection(path: string, cached: CachedInspection): CachedInspection {
    this.#cached.set(path, cached)
    this.#share(path, cached)
    return cached
  }
}

function isSame(a: FileStat, b: FileStat): boolean {
  return a.version === b.version
}

function isAtLeastAsNew(a: FileStat, b: FileStat): boolean {
  return a.sizeBytes >= b.sizeBytes && a.modifiedMs >= b.modifiedMs
}

/** Whether an inspection is valid for a file with this stat. */
function isFresh({ inspection, stat }: FoundRecording, requested: FileStat): boolean {
  if (isSame(stat, requested)) return true
  // An equal size with another time is not fresh: some recorders set the time of the broadcast when
  // the file is complete.
  return (
    canGrow(inspection) && stat.sizeBytes > requested.sizeBytes && isAtLeastAsNew(stat, requested)
  )
}

/** The file may have grown during the inspection, but must not have been replaced. */
function matchesRequest({ inspection, stat }: FoundRecording, requested: FileStat): boolean {
  if (isSame(stat, requested)) return true
  return (
    (inspection.status === 'unplayable' || canGrow(inspection)) && isAtLeastAsNew(stat, requested)
  )
}

function canGrow(inspection: Inspection): boolean {
  return inspection.status === 'playable' && inspection.index.growth !== undefined
}

function growthMark({ inspection }: FoundRecording) {
  return inspection.status === 'playable' ? inspection.mark : undefined
}

function memoryBytes(inspection: Inspection): number {
  if (inspection.status === 'unplayable') return BASE_BYTES
  const { splitPoints, subtitles = [] } = inspection.index
  const cues = subtitles.reduce(
    (sum, text) =>
      text.cues.reduce((bytes, cue) => bytes + SPLIT_POINT_BYTES + cue.text.length, sum),
    0,
  )
  return BASE_BYTES + splitPoints.flags.length * SPLIT_POINT_BYTES + cues
}
