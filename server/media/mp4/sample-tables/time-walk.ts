// Walks the sample times of a track from the first sample, stopping at requested samples or times.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { RunCursor, compositionTicks, durationTicks } from './run-cursor.ts'
import type { SampleMap } from '../mp4-source.ts'

/** Bounds of the sample times. */
export interface TimeExtent {
  /** Earliest presentation time, and latest end of a presentation. */
  earliestTicks: number
  latestEndTicks: number
  /** Minimum and maximum of presentation time minus decode time, and 0. */
  lowestOffset: number
  largestOffset: number
}

/** A walk over stts and ctts. All times in ticks of the file. */
export class TimeWalk {
  /** Number, from 0, and decode time of the next sample. */
  sample = 0
  decodeTicks = 0
  /** Of all samples consumed. */
  readonly extent: TimeExtent = {
    earliestTicks: Infinity,
    latestEndTicks: -Infinity,
    lowestOffset: 0,
    largestOffset: 0,
  }
  readonly durations: RunCursor
  readonly offsets: RunCursor | undefined
  readonly #sampleCount: number
  readonly #maxOffsetTicks: number
  #earliestBefore = Infinity

  constructor(
    file: OpenFile,
    { tables, sampleCount, maxOffsetTicks }: SampleMap,
    signal: AbortSignal,
  ) {
    const { durations, compositionOffsets } = tables
    this.durations = new RunCursor(file, durations, signal)
    this.offsets = compositionOffsets && new RunCursor(file, compositionOffsets, signal)
    this.#sampleCount = sampleCount
    this.#maxOffsetTicks = maxOffsetTicks
  }

  /** Call once, before any other method. */
  async open(): Promise<void> {
    await Promise.all([this.durations.open(), this.offsets?.open()])
  }

  /** Presentation time of the next sample. */
  get presentationTicks(): number {
    return this.decodeTicks + this.#offset
  }

  /** Earliest presentation time of the samples since the last call. `extent` begins again. */
  takeEarliest(): number {
    const { earliestTicks } = this.extent
    this.#earliestBefore = Math.min(this.#earliestBefore, earliestTicks)
    this.extent.earliestTicks = Infinity
    return earliestTicks
  }

  /** The extent of all samples consumed, also before `takeEarliest`. */
  wholeExtent(): TimeExtent {
    const earliestTicks = Math.min(this.#earliestBefore, this.extent.earliestTicks)
    return { ...this.extent, earliestTicks }
  }

  /** Consumes all samples before sample `target`. */
  async toSample(target: number): Promise<void> {
    const end = Math.min(target, this.#sampleCount)
    while (this.sample < end) {
      this.#consume(end - this.sample)
      this.#consumeShortRuns(end)
      if (!this.#advanceBuffered()) await this.#advance()
    }
  }

  /** Consumes all samples whose decode time is before `ticks`, up to sample `limit` (exclusive). */
  async toTime(ticks: number, limit = Infinity): Promise<void> {
    const end = Math.min(limit, this.#sampleCount)
    while (this.sample < end && this.decodeTicks < ticks) {
      const step = durationTicks(this.durations.value)
      const missing = step === 0 ? Infinity : Math.ceil((ticks - this.decodeTicks) / step)
      this.#consume(Math.min(missing, end - this.sample))
      if (!this.#advanceBuffered()) await this.#advance()
    }
  }

  get #offset(): number {
    return this.offsets === undefined
      ? 0
      : compositionTicks(this.offsets.value, this.#maxOffsetTicks)
  }

  /** Consumes samples of equal duration and offset: at least one, at most `most`. */
  #consume(most: number): void {
    const count = Math.min(most, this.durations.left, this.offsets?.left ?? Infinity)
    const offset = this.#offset
    const first = this.decodeTicks + offset
    this.sample += count
    this.decodeTicks += count * durationTicks(this.durations.value)
    const end = this.decodeTicks + offset
    const { extent } = this
    if (first < extent.earliestTicks) extent.earliestTicks = first
    if (end > extent.latestEndTicks) extent.latestEndTicks = end
    if (offset > extent.largestOffset) extent.largestOffset = offset
    if (offset < extent.lowestOffset) extent.lowestOffset = offset
    this.durations.consume(count)
    this.offsets?.consume(count)
  }

  /**
   * Consumes ctts runs that end before sample `end` and inside the current stts run. With B-frames
   * nearly every frame is a run, a million in ten hours: this loop dominates the time of indexing.
   */
  #consumeShortRuns(end: number): void {
    const { offsets, durations, extent } = this
    const maxOffsetTicks = this.#maxOffsetTicks
    if (offsets?.left !== 0) return
    const runs = offsets.bufferedRuns()
    const step = durationTicks(durations.value)
    const most = Math.min(durations.left, end - this.sample)
    let { earliestTicks, latestEndTicks, lowestOffset, largestOffset } = extent
    let ticks = this.decodeTicks
    let consumed = 0
    let at = 0
    for (; at + 1 < runs.length; at += 2) {
      const count = runs[at] ?? 0
      if (count === 0 || consumed + count > most) break
      const offset = compositionTicks(runs[at + 1] ?? 0, maxOffsetTicks)
      consumed += count
      if (ticks + offset < earliestTicks) earliestTicks = ticks + offset
      ticks += count * step
      if (ticks + offset > latestEndTicks) latestEndTicks = ticks + offset
      if (offset > largestOffset) largestOffset = offset
      if (offset < lowestOffset) lowestOffset = offset
    }
    Object.assign(extent, { earliestTicks, latestEndTicks, lowestOffset, largestOffset })
    this.sample += consumed
    this.decodeTicks = ticks
    durations.consume(consumed)
    offsets.skipRuns(at / 2)
  }

  #advanceBuffered(): boolean {
    const isAdvanced = this.durations.advanceBuffered()
    return (this.offsets?.advanceBuffered() ?? true) && isAdvanced
  }

  async #advance(): Promise<void> {
    await this.durations.advance()
    await this.offsets?.advance()
  }
}
