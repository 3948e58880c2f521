// Finished segments that many ask for, kept in memory: what is encrypted once is sent again and again.
import type { ChunkSource } from './chunk-source.ts'
import type { PageCache } from '../storage/page-cache.ts'
import { CachedSegment } from './cached-segment.ts'
import type { SegmentSource } from './cached-segment.ts'
import { RequestCounts } from './request-counts.ts'
import { allocateSegment } from './segment-memory.ts'

/** Asked for so often, a segment is worth a place: most are asked for once. */
const ADMITTED_AT = 2
/** What the smallest segment counts for, as each may take a descriptor. */
const MIN_COUNTED_BYTES = 128 * 1024
/** No segment takes more of the cache than this share of it. */
const MAX_SHARE = 1 / 4
/** Popularity is of the last requests: so many, and so many for each segment that is held. */
const MIN_WINDOW = 1024
const WINDOW_A_SEGMENT = 16

export interface SegmentRequest {
  /** Stands for every byte of the segment. */
  key: string
  sizeBytes: number
}

/** A segment in memory, for one response. */
export interface SegmentLease {
  /** Bytes from `start` up to, not including, `end`. */
  read(window: { start: number; end: number }): ChunkSource
  /** When nothing reads or sends them any more. Settles when what the bytes come from is needed no more either. */
  release(): Promise<void>
}

/** What the cache has come to. */
export interface SegmentCacheFigures {
  hits: number
  misses: number
  cachedBytes: number
}

interface Entry {
  key: string
  segment: CachedSegment
  readers: number
}

export class SegmentCache {
  /** The one that was asked for longest ago comes first. */
  readonly #entries = new Map<string, Entry>()
  readonly #counts = new RequestCounts()
  readonly #maxBytes: number
  readonly #pageCache: PageCache | undefined
  #cachedBytes = 0
  #hits = 0
  #misses = 0

  /** @param options.pageCache has the memory lie where sockets take it without a copy */
  constructor({ maxBytes, pageCache }: { maxBytes: number; pageCache?: PageCache | undefined }) {
    this.#maxBytes = maxBytes
    this.#pageCache = pageCache
  }

  get figures(): SegmentCacheFigures {
    return { hits: this.#hits, misses: this.#misses, cachedBytes: this.#cachedBytes }
  }

  /**
   * The segment, where it is held, or popular enough to be from now on: then it is filled from what `open` gives, once
   * for all who ask meanwhile. Undefined where it is to be made for this response alone.
   */
  hold({ key, sizeBytes }: SegmentRequest, open: () => SegmentSource): SegmentLease | undefined {
    const window = Math.max(MIN_WINDOW, WINDOW_A_SEGMENT * this.#entries.size)
    const count = this.#counts.add(key, window)
    const known = this.#entries.get(key)
    if (known !== undefined) {
      this.#hits += 1
      this.#entries.delete(key)
      this.#entries.set(key, known)
      return this.#lend(known, undefined)
    }
    this.#misses += 1
    if (count < ADMITTED_AT || countedBytes(sizeBytes) > this.#maxBytes * MAX_SHARE)
      return undefined
    if (!this.#makeRoom(countedBytes(sizeBytes), count)) return undefined
    const segment = new CachedSegment(sizeBytes, allocateSegment(sizeBytes, this.#pageCache))
    this.#cachedBytes += countedBytes(sizeBytes)
    const entry: Entry = { key, segment, readers: 0 }
    this.#entries.set(key, entry)
    return this.#lend(entry, this.#fill(entry, open()))
  }

  async #fill(entry: Entry, source: SegmentSource): Promise<void> {
    await entry.segment.fill(source)
    if (entry.segment.hasFailed) this.#entries.delete(entry.key)
  }

  #lend(entry: Entry, filled: Promise<void> | undefined): SegmentLease {
    entry.readers += 1
    return {
      read: (window) => entry.segment.read(window),
      release: async () => {
        await filled
        entry.readers -= 1
        const isHeld = this.#entries.get(entry.key) === entry
        if (entry.readers === 0 && !isHeld) this.#free(entry.segment)
      },
    }
  }

  /**
   * Gives up what was asked for longest ago, as far as needed. Not for one that is asked for no more often than what
   * would have to go, so that no sweep over many segments drives out the few that are popular.
   */
  #makeRoom(neededBytes: number, count: number): boolean {
    const victims: Entry[] = []
    let roomBytes = this.#maxBytes - this.#cachedBytes
    for (const entry of this.#entries.values()) {
      if (roomBytes >= neededBytes) break
      if (entry.readers > 0) continue
      if (this.#counts.of(entry.key) >= count) return false
      victims.push(entry)
      roomBytes += countedBytes(entry.segment.sizeBytes)
    }
    if (roomBytes < neededBytes) return false
    for (const { key, segment } of victims) {
      this.#entries.delete(key)
      this.#free(segment)
    }
    return true
  }

  #free(segment: CachedSegment): void {
    segment.free()
    this.#cachedBytes -= countedBytes(segment.sizeBytes)
  }
}

function countedBytes(sizeBytes: number): number {
  return Math.max(sizeBytes, MIN_COUNTED_BYTES)
}
