// Finished segments that many ask for, kept in memory: what is encrypted once is sent again and again.
import type { ChunkSource } from './chunk-source.ts'
import { BLOCK_BYTES, HeldSegment } from './held-segment.ts'
import type { SegmentSource } from './held-segment.ts'
import { RequestCounts } from './request-counts.ts'

/** Asked for so often, a segment is worth a place: most are asked for once. */
const ADMITTED_AT = 2
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
export interface SegmentHold {
  /** Bytes from `start` up to, not including, `end`. */
  read(window: { start: number; end: number }): ChunkSource
  /** When nothing reads or sends them any more. Settles when what the bytes come from is needed no more either. */
  release(): Promise<void>
}

/** What the cache has come to. */
export interface SegmentCacheFigures {
  hits: number
  misses: number
  heldBytes: number
}

interface Entry {
  key: string
  segment: HeldSegment
  readers: number
}

export class SegmentCache {
  /** The one that was asked for longest ago comes first. */
  readonly #entries = new Map<string, Entry>()
  readonly #counts = new RequestCounts()
  readonly #maxBlocks: number
  readonly #free: Buffer[] = []
  #madeBlocks = 0
  #hits = 0
  #misses = 0

  constructor({ maxBytes }: { maxBytes: number }) {
    this.#maxBlocks = Math.floor(maxBytes / BLOCK_BYTES)
  }

  get figures(): SegmentCacheFigures {
    const heldBlocks = this.#madeBlocks - this.#free.length
    return { hits: this.#hits, misses: this.#misses, heldBytes: heldBlocks * BLOCK_BYTES }
  }

  /**
   * The segment, where it is held, or popular enough to be from now on: then it is filled from what `open` gives, once
   * for all who ask meanwhile. Undefined where it is to be made for this response alone.
   */
  hold({ key, sizeBytes }: SegmentRequest, open: () => SegmentSource): SegmentHold | undefined {
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
    const blockCount = Math.ceil(sizeBytes / BLOCK_BYTES)
    if (count < ADMITTED_AT || blockCount > this.#maxBlocks * MAX_SHARE) return undefined
    if (!this.#makeRoom(blockCount, count)) return undefined
    const segment = new HeldSegment(sizeBytes, this.#takeBlocks(blockCount))
    const entry: Entry = { key, segment, readers: 0 }
    this.#entries.set(key, entry)
    return this.#lend(entry, this.#fill(entry, open()))
  }

  async #fill(entry: Entry, source: SegmentSource): Promise<void> {
    await entry.segment.fill(source)
    if (entry.segment.hasFailed) this.#entries.delete(entry.key)
  }

  #lend(entry: Entry, filled: Promise<void> | undefined): SegmentHold {
    entry.readers += 1
    return {
      read: (window) => entry.segment.read(window),
      release: async () => {
        await filled
        entry.readers -= 1
        const isHeld = this.#entries.get(entry.key) === entry
        if (entry.readers === 0 && !isHeld) this.#free.push(...entry.segment.blocks)
      },
    }
  }

  /**
   * Gives up what was asked for longest ago, as far as needed. Not for one that is asked for no more often than what
   * would have to go, so that no sweep over many segments drives out the few that are popular.
   */
  #makeRoom(blockCount: number, count: number): boolean {
    const victims: Entry[] = []
    let room = this.#maxBlocks - this.#madeBlocks + this.#free.length
    for (const entry of this.#entries.values()) {
      if (room >= blockCount) break
      if (entry.readers > 0) continue
      if (this.#counts.of(entry.key) >= count) return false
      victims.push(entry)
      room += entry.segment.blocks.length
    }
    if (room < blockCount) return false
    for (const { key, segment } of victims) {
      this.#entries.delete(key)
      this.#free.push(...segment.blocks)
    }
    return true
  }

  #takeBlocks(count: number): Buffer[] {
    const blocks = this.#free.splice(Math.max(0, this.#free.length - count))
    while (blocks.length < count) {
      blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES))
      this.#madeBlocks += 1
    }
    return blocks
  }
}
