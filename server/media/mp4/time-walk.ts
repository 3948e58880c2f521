// Walks through the times of a track once, from its first sample on, stopping where it is told: how an index is made.
import type { OpenFile } from '../../storage/storage.ts'
import { RunCursor, compositionTicks, durationTicks } from './run-cursor.ts'
import type { SampleMap } from './mp4-source.ts'

/** What the times of samples span. */
export interface TimeExtent {
  /** Earliest presentation time, and latest end of a presentation. */
  earliestTicks: number
  latestEndTicks: number
  /** Largest distance between presentation and decode time. */
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
    largestOffset: 0,
  }
  readonly durations: RunCursor
  readonly offsets: RunCursor | undefined
  readonly #sampleCount: number

  constructor(file: OpenFile, { tables, sampleCount }: SampleMap, signal: AbortSignal) {
    const { durations, compositionOffsets } = tables
    const start = { from: 0, used: 0, signal }
    this.durations = new RunCursor(file, durations, { ...start, expected: durations.count })
    this.offsets =
      compositionOffsets &&
      new RunCursor(file, compositionOffsets, { ...start, expected: compositionOffsets.count })
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
    if (Math.abs(offset) > extent.largestOffset) extent.largestOffset = Math.abs(offset)
    this.durations.pass(count)
    this.offsets?.pass(count)
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
