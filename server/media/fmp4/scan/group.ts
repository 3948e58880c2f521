// Gathers fragments to groups, gives their samples times, and sees where the clocks break.
import { MAX_FORWARD_SECONDS, RULES, timelineRules } from '../../timeline/timeline-rules.ts'
import { MAX_GROUP_FRAGMENTS } from '../fmp4-limits.ts'
import type { Fmp4Init, TrackProgress } from '../fmp4-source.ts'
import type { Fragment } from '../fragments/fragment.ts'
import {
  type GathererStart,
  type Group,
  type TimedFragment,
  type TimedSamples,
  servedTicks,
} from './scan-state.ts'

const { isJump } = timelineRules('fmp4', 1)

/** A movie that is in force. */
export interface MovieInForce {
  init: Fmp4Init
  /** Its number among the inits. */
  number: number
  hash: string
}

/** A group that is whole, or as whole as the file. */
export interface EndedGroup {
  group: Group
  /** Position behind the group. */
  end: number
  /** Progress with all of the group. */
  progress: readonly TrackProgress[]
}

/** Takes fragments in the order of the file; hands out each group when the next begins. */
export class Gatherer {
  #movie: MovieInForce
  #before: GathererStart
  #group: Group | undefined
  /** Position of a movie box that changed what is in force, where no fragment has come since. */
  #changeAt: number | undefined
  readonly #progress: TrackProgress[]
  #lacksTimes: boolean

  constructor(
    movie: MovieInForce,
    { progress, lacksTimes }: Omit<GathererStart, 'init' | 'movieHash'>,
  ) {
    this.#movie = movie
    this.#progress = progress.map((each) => ({ ...each }))
    this.#lacksTimes = lacksTimes
    this.#before = this.lookup()
  }

  get movie(): MovieInForce {
    return this.#movie
  }

  get lacksTimes(): boolean {
    return this.#lacksTimes
  }

  /** Takes a movie box at a position. Where it is another movie, what follows stands behind a break. */
  takeMovie(movie: MovieInForce, at: number): void {
    if (movie.number !== this.#movie.number) {
      if (this.#changeAt === undefined) this.#before = this.lookup()
      this.#changeAt ??= at
    }
    this.#movie = movie
  }

  /** Takes a fragment; answers the group that ended before it, if one did. */
  take(fragment: Fragment): EndedGroup | undefined {
    if (this.#changeAt === undefined) this.#before = this.lookup()
    const timed = this.#giveTimes(fragment)
    const breaks = this.#findBreak(timed)
    const ends = breaks !== undefined || this.#endsGroup(timed)
    const start = this.#changeAt ?? timed.start
    const { progress } = this.#before
    const ended = ends && this.#group ? { group: this.#group, end: start, progress } : undefined
    if (ends || this.#group === undefined) {
      const { number: init } = this.#movie
      this.#group = { start, fragments: [], breaks, init, hasVideo: false, before: this.#before }
      this.#changeAt = undefined
    }
    if (breaks !== undefined) this.#forgetClocks()
    this.#group.fragments.push(timed)
    this.#group.hasVideo ||= timed.hasVideo
    for (const run of timed.runs) this.#advance(run)
    return ended
  }

  /** The last group, at the end of the file: more may come to it. */
  finish(end: number): EndedGroup | undefined {
    return this.#group && { group: this.#group, end, progress: this.#progress }
  }

  /** What is known in front of what comes next. */
  lookup(): GathererStart {
    return {
      init: this.#movie.number,
      movieHash: this.#movie.hash,
      progress: this.#progress.map((each) => ({ ...each })),
      lacksTimes: this.#lacksTimes,
    }
  }

  #trackOf({ track }: TimedSamples): Fmp4Init['tracks'][number] {
    return this.#movie.init.tracks[track]
  }

  #giveTimes({ start, end, runs, isTruncated }: Fragment): TimedFragment {
    const timed: TimedSamples[] = []
    const next = this.#progress.map(({ nextTicks }) => nextTicks)
    for (const run of runs) {
      const track = this.#movie.init.tracks.findIndex((each) => each?.id === run.trackId)
      const description = this.#movie.init.tracks[track]?.descriptions[run.description - 1]
      if (description === undefined) continue
      if (run.decodeTicks === undefined) this.#lacksTimes = true
      const decodeTicks = run.decodeTicks ?? next[track] ?? 0
      next[track] = decodeTicks + sum(run.durations)
      timed.push({ ...run, track, decodeTicks })
    }
    const hasVideo = timed.some((run) => this.#trackOf(run)?.kind === 'video')
    return { start, end, runs: timed, isTruncated, hasVideo }
  }

  #findBreak({ runs }: TimedFragment): Group['breaks'] {
    if (this.#changeAt !== undefined) return 'init'
    const isOther = runs.some(({ track, description }) => {
      const last = this.#progress[track]
      return last !== undefined && !Number.isNaN(last.origin) && last.description !== description
    })
    if (isOther) return 'init'
    return runs.some((run) => this.#jumps(run)) ? 'jump' : undefined
  }

  #jumps(run: TimedSamples): boolean {
    const own = this.#progress[run.track]
    if (own === undefined || Number.isNaN(own.origin)) return false
    const seconds = this.#seconds(run, run.decodeTicks) - own.origin
    const ends = this.#progress
      .map(({ endSeconds, origin }) => endSeconds - origin)
      .filter((end) => !Number.isNaN(end))
    const back = own.endSeconds - own.origin - seconds
    return isJump({ back, ahead: seconds - Math.max(...ends) })
  }

  #endsGroup({ runs, hasVideo }: TimedFragment): boolean {
    const group = this.#group
    if (group === undefined) return false
    if (group.fragments.length >= MAX_GROUP_FRAGMENTS) return true
    if (hasVideo) return group.hasVideo
    const video = this.#movie.init.tracks.findIndex((track) => track?.kind === 'video')
    if (video < 0) return true
    const frames = this.#progress[video]
    const [first] = runs
    if (first === undefined || frames === undefined) return false
    const origin = this.#progress[first.track]?.origin ?? NaN
    const audioSeconds = this.#seconds(first, first.decodeTicks) - origin
    const aloneSeconds = audioSeconds - (frames.endSeconds - frames.origin)
    return aloneSeconds >= RULES.fmp4.audioAloneAfterSeconds
  }

  #forgetClocks(): void {
    for (const track of this.#progress) {
      track.endSeconds = NaN
      track.origin = NaN
    }
  }

  #advance(run: TimedSamples): void {
    const track = this.#progress[run.track]
    if (track === undefined) return
    if (Number.isNaN(track.origin)) {
      track.origin = this.#findOrigin(this.#seconds(run, run.decodeTicks))
    }
    track.nextTicks = run.decodeTicks + sum(run.durations)
    track.endSeconds = this.#seconds(run, track.nextTicks)
    track.description = run.description
    track.isSeen = true
  }

  /** Tracks that begin near each other share an origin. */
  #findOrigin(seconds: number): number {
    const other = this.#progress.find(({ origin }) => !Number.isNaN(origin))
    if (other === undefined) return seconds
    const isNear =
      seconds >= other.origin - MAX_FORWARD_SECONDS &&
      seconds <= other.endSeconds + MAX_FORWARD_SECONDS
    return isNear ? other.origin : seconds
  }

  #seconds(run: TimedSamples, fileTicks: number): number {
    const track = this.#trackOf(run)
    return track === undefined ? NaN : servedTicks(track, fileTicks) / track.timescale
  }
}

function sum(values: Uint32Array): number {
  let total = 0
  for (const value of values) total += value
  return total
}
