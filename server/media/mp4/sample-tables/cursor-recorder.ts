// Collects the positions of a walk in the typed arrays of an index.
import { checkSplitPoints } from '../../timeline/split-points.ts'
import type { CursorTable } from '../mp4-source.ts'
import type { TimeWalk } from './time-walk.ts'

/** Bounds the number of split points. */
export class CursorRecorder {
  readonly #walk: TimeWalk
  readonly #samples: number[] = []
  readonly #decodeTicks: number[] = []
  readonly #durationRuns: number[] = []
  readonly #durationUsed: number[] = []
  readonly #offsetRuns: number[] = []
  readonly #offsetUsed: number[] = []
  readonly #syncs: number[] = []

  constructor(walk: TimeWalk) {
    this.#walk = walk
  }

  get length(): number {
    return this.#samples.length
  }

  /**
   * Records the walk's position as the next split point. `sync` is the first stss entry at or after
   * it, if there is an stss.
   */
  record(sync?: number): void {
    const { sample, decodeTicks, durations, offsets } = this.#walk
    checkSplitPoints(this.length)
    this.#samples.push(sample)
    this.#decodeTicks.push(decodeTicks)
    this.#durationRuns.push(durations.run)
    this.#durationUsed.push(durations.used)
    if (offsets !== undefined) {
      this.#offsetRuns.push(offsets.run)
      this.#offsetUsed.push(offsets.used)
    }
    if (sync !== undefined) this.#syncs.push(sync)
  }

  /**
   * All recorded positions, after the walk has passed the last sample. A table's count bounds each
   * number, so 32 bits are enough.
   */
  finish(): CursorTable {
    const hasOffsets = this.#offsetRuns.length > 0
    return {
      samples: Uint32Array.from(this.#samples),
      decodeTicks: Float64Array.from(this.#decodeTicks),
      durationRuns: Uint32Array.from(this.#durationRuns),
      durationUsed: Uint32Array.from(this.#durationUsed),
      ...(hasOffsets && {
        offsetRuns: Uint32Array.from(this.#offsetRuns),
        offsetUsed: Uint32Array.from(this.#offsetUsed),
      }),
      ...(this.#syncs.length > 0 && { syncs: Uint32Array.from(this.#syncs) }),
    }
  }
}
