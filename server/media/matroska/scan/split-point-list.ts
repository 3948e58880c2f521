// The split points that a scan has found so far, as growing arrays.
import type { SplitPointTable } from '../../media-index.ts'
import type { WalkedBlock } from '../elements/walk-visitor.ts'
import { checkSplitPoints, moveLastStart, tableOf } from '../../timeline/split-points.ts'
import { CLOCK_RATE, type SplitPointLocations } from '../matroska-source.ts'

/**
 * The arrays of SplitPointLocations, and start times (on the session timeline, in ticks of
 * CLOCK_RATE) and flags for the index.
 */
export class SplitPointList {
  readonly #offsets: number[]
  readonly #clusterTicks: number[]
  readonly #clusterEnds: number[]
  readonly earliestTicks: number[]
  readonly #audioStarts: number[][]
  readonly sampleCounts: number[]
  readonly startTicks: number[]
  readonly flags: number[]

  /** A copy of those in an index, or none. */
  constructor(splitPoints?: SplitPointTable, locations?: SplitPointLocations) {
    this.#offsets = [...(locations?.offsets ?? [])]
    this.#clusterTicks = [...(locations?.clusterTicks ?? [])]
    this.#clusterEnds = [...(locations?.clusterEnds ?? [])]
    this.earliestTicks = [...(locations?.earliestTicks ?? [])]
    this.#audioStarts = (locations?.audioStarts ?? []).map((starts) => [...starts])
    this.sampleCounts = [...(locations?.sampleCounts ?? [])]
    this.startTicks = [...(splitPoints?.startTicks ?? [])]
    this.flags = [...(splitPoints?.flags ?? [])]
  }

  get length(): number {
    return this.#offsets.length
  }

  /** Start of the last split point; -1 before the first. */
  get lastStartTicks(): number {
    return this.startTicks.at(-1) ?? -1
  }

  get lastFlags(): number {
    return this.flags.at(-1) ?? 0
  }

  get firstOffset(): number {
    return this.#offsets[0] ?? Infinity
  }

  offsetOf(splitPoint: number): number {
    return this.#offsets[splitPoint] ?? Infinity
  }

  hasFrame(): boolean {
    return !Number.isNaN(this.earliestTicks.at(-1) ?? NaN)
  }

  /**
   * Opens a split point at a block, after `sampleCount` samples. It starts after the previous one,
   * whatever the times are.
   */
  open(
    block: WalkedBlock,
    { startTicks, flags, sampleCount }: { startTicks: number; flags: number; sampleCount: number },
  ): void {
    checkSplitPoints(this.length)
    this.startTicks.push(Math.max(startTicks, this.lastStartTicks + 1))
    this.flags.push(flags)
    this.#offsets.push(block.position)
    this.#clusterTicks.push(block.clusterTicks)
    this.#clusterEnds.push(block.clusterEnd)
    this.earliestTicks.push(NaN)
    this.sampleCounts.push(sampleCount)
    for (const starts of this.#audioStarts) starts.push(NaN)
  }

  /** Removes this split point and all later ones. */
  truncate(splitPoint: number): void {
    if (splitPoint >= this.length) return
    const places = [this.#offsets, this.#clusterTicks, this.#clusterEnds, this.sampleCounts]
    const times = [this.earliestTicks, this.startTicks, ...this.#audioStarts]
    for (const list of [...places, ...times, this.flags]) {
      list.length = Math.min(list.length, splitPoint)
    }
  }

  addFrame(ticks: number): void {
    const last = this.length - 1
    const before = this.earliestTicks[last] ?? NaN
    this.earliestTicks[last] = Number.isNaN(before) ? ticks : Math.min(before, ticks)
  }

  /** Sets the start of an audio track in the last split point. */
  addAudio(audio: number, ticks: number): void {
    while (this.#audioStarts.length <= audio) {
      this.#audioStarts.push(Array.from({ length: this.length }, () => NaN))
    }
    const starts = this.#audioStarts[audio]
    if (starts !== undefined && Number.isNaN(starts.at(-1) ?? 0)) starts[this.length - 1] = ticks
  }

  addFlags(flags: number): void {
    this.flags[this.length - 1] = this.lastFlags | flags
  }

  /** Moves the start of the last split point back, but not to the previous one. */
  moveStartBack(ticks: number): void {
    moveLastStart(this.startTicks, ticks)
  }

  locations(): SplitPointLocations {
    return {
      offsets: Float64Array.from(this.#offsets),
      clusterTicks: Float64Array.from(this.#clusterTicks),
      clusterEnds: Float64Array.from(this.#clusterEnds),
      earliestTicks: Float64Array.from(this.earliestTicks),
      audioStarts: this.#audioStarts.map((starts) => Float64Array.from(starts)),
      sampleCounts: Float64Array.from(this.sampleCounts),
    }
  }

  table(endTicks: number): SplitPointTable {
    return tableOf(this, { timescale: CLOCK_RATE, endTicks })
  }
}
