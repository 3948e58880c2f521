// Groups fragments, assigns times to their samples, and detects discontinuities.
import { MAX_FORWARD_SECONDS, RULES, timelineRules } from '../../timeline/timeline-rules.ts'
import { MAX_FRAGMENT_SAMPLES, MAX_GROUP_FRAGMENTS } from '../fmp4-limits.ts'
import type { Fmp4Init, TrackProgress } from '../fmp4-source.ts'
import type { Fragment } from '../fragments/fragment.ts'
import {
  type GrouperState,
  type Group,
  type TimedFragment,
  type TimedSamples,
  servedTicks,
} from './scan-state.ts'

const { isJump } = timelineRules('fmp4', 1)

/** The current movie. */
export interface MovieInForce {
  init: Fmp4Init
  /** Its position in `ScanState.inits`. */
  number: number
  hash: string
}

/** A group that is complete, or that the end of the file ends. */
export interface EndedGroup {
  group: Group
  /** Position after the group. */
  end: number
  /** Progress including the group. */
  progress: readonly TrackProgress[]
}

/** Takes fragments in file order; returns each group when the next one starts. */
export class FragmentGrouper {
  #movie: MovieInForce
  #stateBefore: GrouperState
  #group: Group | undefined
  #groupSamples = 0
  /** Position of a movie box that changed the current movie, until the next fragment. */
  #movieChangeAt: number | undefined
  readonly #progress: TrackProgress[]
  #lacksDecodeTimes: boolean

  constructor(
    movie: MovieInForce,
    { progress, lacksDecodeTimes }: Omit<GrouperState, 'init' | 'movieHash'>,
  ) {
    this.#movie = movie
    this.#progress = progress.map((each) => ({ ...each }))
    this.#lacksDecodeTimes = lacksDecodeTimes
    this.#stateBefore = this.snapshot()
  }

  get movie(): MovieInForce {
    return this.#movie
  }

  get lacksDecodeTimes(): boolean {
    return this.#lacksDecodeTimes
  }

  /** Processes a movie box. A different movie causes a discontinuity. */
  changeMovie(movie: MovieInForce, at: number): void {
    if (movie.number !== this.#movie.number) {
      if (this.#movieChangeAt === undefined) this.#stateBefore = this.snapshot()
      this.#movieChangeAt ??= at
    }
    this.#movie = movie
  }

  /** Adds a fragment; returns the group that it ended, if any. */
  take(fragment: Fragment): EndedGroup | undefined {
    if (this.#movieChangeAt === undefined) this.#stateBefore = this.snapshot()
    const timed = this.#assignTimes(fragment)
    const discontinuity = this.#findDiscontinuity(timed)
    const ends = discontinuity !== undefined || this.#endsGroup(timed)
    const start = this.#movieChangeAt ?? timed.start
    const { progress } = this.#stateBefore
    const ended = ends && this.#group ? { group: this.#group, end: start, progress } : undefined
    if (ends || this.#group === undefined) {
      const { number: init } = this.#movie
      this.#group = {
        start,
        fragments: [],
        discontinuity,
        init,
        hasVideo: false,
        stateBefore: this.#stateBefore,
      }
      this.#movieChangeAt = undefined
      this.#groupSamples = 0
    }
    if (discontinuity !== undefined) this.#resetClocks()
    this.#group.fragments.push(timed)
    this.#group.hasVideo ||= timed.hasVideo
    for (const run of timed.runs) {
      this.#groupSamples += run.sizes.length
      this.#advance(run)
    }
    return ended
  }

  /** The last group at the end of the file, which may grow. */
  finish(end: number): EndedGroup | undefined {
    return this.#group && { group: this.#group, end, progress: this.#progress }
  }

  /** The state before the next fragment. */
  snapshot(): GrouperState {
    return {
      init: this.#movie.number,
      movieHash: this.#movie.hash,
      progress: this.#progress.map((each) => ({ ...each })),
      lacksDecodeTimes: this.#lacksDecodeTimes,
    }
  }

  #trackOf({ track }: TimedSamples): Fmp4Init['tracks'][number] {
    return this.#movie.init.tracks[track]
  }

  #assignTimes({ start, end, runs, isTruncated }: Fragment): TimedFragment {
    const timed: TimedSamples[] = []
    const next = this.#progress.map(({ nextTicks }) => nextTicks)
    for (const run of runs) {
      const track = this.#movie.init.tracks.findIndex((each) => each?.id === run.trackId)
      const description = this.#movie.init.tracks[track]?.descriptions[run.description - 1]
      if (description === undefined) continue
      if (run.decodeTicks === undefined) this.#lacksDecodeTimes = true
      const decodeTicks = run.decodeTicks ?? next[track] ?? 0
      next[track] = decodeTicks + sum(run.durations)
      timed.push({ ...run, track, decodeTicks })
    }
    const hasVideo = timed.some((run) => this.#trackOf(run)?.kind === 'video')
    return { start, end, runs: timed, isTruncated, hasVideo }
  }

  #findDiscontinuity({ runs }: TimedFragment): Group['discontinuity'] {
    if (this.#movieChangeAt !== undefined) return 'init'
    const hasOtherCodec = runs.some(({ track, description }) => {
      const last = this.#progress[track]
      return last !== undefined && !Number.isNaN(last.origin) && last.description !== description
    })
    if (hasOtherCodec) return 'init'
    return runs.some((run) => this.#jumps(run)) ? 'jump' : undefined
  }

  #jumps(run: TimedSamples): boolean {
    const progress = this.#progress[run.track]
    if (progress === undefined || Number.isNaN(progress.origin)) return false
    const seconds = this.#seconds(run, run.decodeTicks) - progress.origin
    const ends = this.#progress
      .map(({ endSeconds, origin }) => endSeconds - origin)
      .filter((end) => !Number.isNaN(end))
    const back = progress.endSeconds - progress.origin - seconds
    return isJump({ back, ahead: seconds - Math.max(...ends) })
  }

  #endsGroup({ runs, hasVideo }: TimedFragment): boolean {
    const group = this.#group
    if (group === undefined) return false
    if (group.fragments.length >= MAX_GROUP_FRAGMENTS) return true
    if (this.#groupSamples >= MAX_FRAGMENT_SAMPLES) return true
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

  #resetClocks(): void {
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

  /** Tracks that start near each other share an origin. */
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
