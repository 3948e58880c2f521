// Walks through the times of a track once, from its first sample on, stopping where it is told: how an index is made.
import type { OpenFile } from '../../../storage/storage.ts'
import { RunCursor, compositionTicks, durationTicks } from './run-cursor.ts'
import type { SampleMap } from '../mp4-source.ts'

/** What the times of samples span. */
export interface TimeExtent {
  /** Earliest presentation time, and latest end of a presentation. */
  earliestTicks: number
  latestEndTicks: number
  /** Smallest and largest of presentation time minus decode time, and 0. */
  lowestOffset: number
  largestOffset: number
}

/** A walk over stts and ctts. All times in the file's ticks. */
export class TimeWalk {
  /** The sample that comes next, from 0, and its decode time. */
  sample = 0
  decodeTicks = 0
  /** Of all samples passed. */
  readonly extent: TimeExtent = {
    earliestTicks: Infinity,
    latestEndTicks: -Infinity,
    lowestOffset: 0,
    largestOffset: 0,
  }
  readonly durations: RunCursor
  readonly offsets: RunCursor | undefined
  readonly #sampleCount: number

  constructor(file: OpenFile, { tables, sampleCount }: SampleMap, signal: AbortSignal) {
    const { durations, compositionOffsets } = tables
    this.durations = new RunCursor(file, durations, signal)
    this.offsets = compositionOffsets && new RunCursor(file, compositionOffsets, signal)
    this.#sampleCount = sampleCount
  }

  /** Must be called once, before anything else. */
  async open(): Promise<void> {
    await Promise.all([this.durations.open(), this.offsets?.open()])
  }

  /** Presentation time of the next sample. */
  get presentationTicks(): number {
    return this.decodeTicks + this.#offset
  }

  /** Passes all samples before sample number `target`. */
  async toSample(target: number): Promise<void> {
    const end = Math.min(target, this.#sampleCount)
    while (this.sample < end) {
      this.#pass(end - this.sample)
      this.#passShortRuns(end)
      if (!this.#settleNow()) await this.#settle()
    }
  }

  /** Passes all samples whose decode time is before `ticks`, but not sample number `limit`. */
  async toTime(ticks: number, limit = Infinity): Promise<void> {
    const end = Math.min(limit, this.#sampleCount)
    while (this.sample < end && this.decodeTicks < ticks) {
      const step = durationTicks(this.durations.value)
      const missing = step === 0 ? Infinity : Math.ceil((ticks - this.decodeTicks) / step)
      this.#pass(Math.min(missing, end - this.sample))
      if (!this.#settleNow()) await this.#settle()
    }
  }

  get #offset(): number {
    return this.offsets === undefined ? 0 : compositionTicks(this.offsets.value)
  }

  /** Passes samples of equal duration and offset: at least one, at most `most`. */
  #pass(most: number): void {
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
    this.durations.pass(count)
    this.offsets?.pass(count)
  }

  /**
   * Passes runs of ctts that end before sample `end` and inside the current run of stts. With B-frames nearly every
   * picture is a run of its own, a million in ten hours: this loop is what indexing costs.
   */
  #passShortRuns(end: number): void {
    const { offsets, durations, extent } = this
    if (offsets?.left !== 0) return
    const runs = offsets.runsAhead()
    const step = durationTicks(durations.value)
    const most = Math.min(durations.left, end - this.sample)
    let { earliestTicks, latestEndTicks, lowestOffset, largestOffset } = extent
    let ticks = this.decodeTicks
    let passed = 0
    let at = 0
    for (; at + 1 < runs.length; at += 2) {
      const count = runs[at] ?? 0
      if (count === 0 || passed + count > most) break
      const offset = compositionTicks(runs[at + 1] ?? 0)
      passed += count
      if (ticks + offset < earliestTicks) earliestTicks = ticks + offset
      ticks += count * step
      if (ticks + offset > latestEndTicks) latestEndTicks = ticks + offset
      if (offset > largestOffset) largestOffset = offset
      if (offset < lowestOffset) lowestOffset = offset
    }
    Object.assign(extent, { earliestTicks, latestEndTicks, lowestOffset, largestOffset })
    this.sample += passed
    this.decodeTicks = ticks
    durations.pass(passed)
    offsets.skipRuns(at / 2)
  }

  #settleNow(): boolean {
    const isSettled = this.durations.settleNow()
    return (this.offsets?.settleNow() ?? true) && isSettled
  }

  async #settle(): Promise<void> {
    await this.durations.settle()
    await this.offsets?.settle()
  }
}
