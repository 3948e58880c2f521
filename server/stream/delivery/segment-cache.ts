// A cache of encrypted segments: each popular one is encrypted once and sent many times.
import type { ChunkSource } from './chunk-source.ts'
import type { PageCache } from '../../storage/recordings/page-cache.ts'
import { CachedSegment } from './cached-segment.ts'
import type { SegmentSource } from './cached-segment.ts'
import { RequestCounts } from './request-counts.ts'
import type { ByteWindow } from './segment-body.ts'
import { allocateSegment } from './segment-memory.ts'

/** A segment is cached from this request on: most are requested once. */
const ADMITTED_AT = 2
/** Charged at least for each segment, which may use a file descriptor. */
const MIN_CHARGED_BYTES = 128 * 1024
/** Largest share of the cache for one segment. */
const MAX_SHARE = 1 / 4
/** Popularity counts at least this many of the last requests, and more for a full cache. */
const MIN_WINDOW = 1024
const WINDOW_PER_SEGMENT = 16

export interface CachedBytes {
  /** Identifies every byte of the segment. */
  key: string
  sizeBytes: number
}

/** A cached segment, for one response. */
export interface SegmentLease {
  /** Whether it was cached before. */
  isHit: boolean
  read(window: ByteWindow): ChunkSource
  /**
   * Call when nothing reads or sends the segment's bytes any more. Resolves when the source of the
   * segment is not needed any more either.
   */
  release(): Promise<void>
}

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
  /** In order of the last request, oldest first. */
  readonly #entries = new Map<string, Entry>()
  readonly #counts = new RequestCounts()
  readonly #maxBytes: number
  readonly #pageCache: PageCache | undefined
  #cachedBytes = 0
  #hits = 0
  #misses = 0

  /** @param options.pageCache allocates memory that sockets can send without a copy */
  constructor({ maxBytes, pageCache }: { maxBytes: number; pageCache?: PageCache | undefined }) {
    this.#maxBytes = maxBytes
    this.#pageCache = pageCache
  }

  get figures(): SegmentCacheFigures {
    return { hits: this.#hits, misses: this.#misses, cachedBytes: this.#cachedBytes }
  }

  /**
   * The segment if it is cached, or popular enough to be cached from now on. In the second case it
   * is filled from `open`, once for all concurrent requests. Undefined if the caller has to create
   * the bytes for this response.
   */
  lease({ key, sizeBytes }: CachedBytes, open: () => SegmentSource): SegmentLease | undefined {
    const window = Math.max(MIN_WINDOW, WINDOW_PER_SEGMENT * this.#entries.size)
    const count = this.#counts.add(key, window)
    const cached = this.#entries.get(key)
    if (cached !== undefined) {
      this.#hits += 1
      this.#entries.delete(key)
      this.#entries.set(key, cached)
      return this.#lend(cached, undefined)
    }
    this.#misses += 1
    if (count < ADMITTED_AT || chargedBytes(sizeBytes) > this.#maxBytes * MAX_SHARE)
      return undefined
    if (!this.#evictFor(chargedBytes(sizeBytes), count)) return undefined
    const segment = new CachedSegment(sizeBytes, allocateSegment(sizeBytes, this.#pageCache))
    this.#cachedBytes += chargedBytes(sizeBytes)
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
      isHit: filled === undefined,
      read: (window) => entry.segment.read(window),
      release: async () => {
        await filled
        entry.readers -= 1
        const isCached = this.#entries.get(entry.key) === entry
        if (entry.readers === 0 && !isCached) this.#free(entry.segment)
      },
    }
  }

  /**
   * Evicts the least recently requested segments, as many as needed. Evicts none that is at least
   * as popular as the new one, so that a scan over many segments does not flush popular ones.
   */
  #evictFor(neededBytes: number, count: number): boolean {
    const victims: Entry[] = []
    let freeBytes = this.#maxBytes - this.#cachedBytes
    for (const entry of this.#entries.values()) {
      if (freeBytes >= neededBytes) break
      if (entry.readers > 0) continue
      if (this.#counts.of(entry.key) >= count) return false
      victims.push(entry)
      freeBytes += chargedBytes(entry.segment.sizeBytes)
    }
    if (freeBytes < neededBytes) return false
    for (const { key, segment } of victims) {
      this.#entries.delete(key)
      this.#free(segment)
    }
    return true
  }

  #free(segment: CachedSegment): void {
    segment.free()
    this.#cachedBytes -= chargedBytes(segment.sizeBytes)
  }
}

function chargedBytes(sizeBytes: number): number {
  return Math.max(sizeBytes, MIN_CHARGED_BYTES)
}
