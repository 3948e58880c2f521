// Finds the places in a group of fragments where a segment may begin: key frames, pictures in mid-GOP, and sound without pictures.
import { SPLIT_KEY_FRAME } from '../../media-index.ts'
import { type FrameDistances, timelineRules } from '../../timeline/timeline-rules.ts'
import type { Fmp4Init, Fmp4Section } from '../fmp4-source.ts'
import {
  type Group,
  type ScanState,
  type TimedSamples,
  sectionSeconds,
  servedTicks,
} from './scan-state.ts'
import { addSplitPoint } from './section.ts'

const { isAudioSplit, videoSplitFlags } = timelineRules('fmp4', 1)

/** What is cut. */
export interface SplitPlan {
  section: Fmp4Section
  init: Fmp4Init
  /** Number of the track to cut. */
  track: number
  /** Its first samples are passed over: so many. */
  skip: number
}

/** The samples of a track in a group. */
export function samplesOf({ fragments }: Group, track: number): TimedSamples[] {
  return fragments.flatMap(({ runs }) => runs.filter((run) => run.track === track))
}

/** One sample on its way through `forEachSample`. */
export interface PassedSample {
  /** Number among those of its track in the group. */
  at: number
  isKey: boolean
  /** Presentation time on the file's clock, in served ticks. */
  ticks: number
  /** The same behind the section's origin. */
  seconds: number
}

/** Calls `pass` for each sample of a track in a group, with the same object each time. */
export function forEachSample(
  group: Group,
  { section, init, track: number }: Pick<SplitPlan, 'section' | 'init' | 'track'>,
  pass: (sample: PassedSample) => void,
): void {
  const track = init.tracks[number]
  if (track === undefined) return
  const place = { number, timescale: track.timescale }
  const sample: PassedSample = { at: 0, isKey: false, ticks: 0, seconds: 0 }
  for (const run of samplesOf(group, number)) {
    let { decodeTicks } = run
    for (let i = 0; i < run.sizes.length; i += 1) {
      sample.ticks = servedTicks(track, decodeTicks + (run.compositionOffsets[i] ?? 0))
      sample.seconds = sectionSeconds(section, place, sample.ticks)
      sample.isKey = run.keys[i] === 1
      pass(sample)
      decodeTicks += run.durations[i] ?? 0
      sample.at += 1
    }
  }
}

/** Cuts pictures at key frames, and in mid-GOP where none come. */
export function splitVideo(state: ScanState, group: Group, plan: SplitPlan): void {
  forEachSample(group, plan, ({ at, isKey, ticks, seconds }) => {
    const flags = at < plan.skip ? 0 : videoSplitFlags(isKey, distancesOf(state, seconds))
    if (flags !== 0) addSplitPoint(state, group, { inside: at, ticks, track: plan.track, flags })
    if (flags === SPLIT_KEY_FRAME) state.lastKeySeconds = seconds
    state.highestSeconds = Math.max(state.highestSeconds, seconds)
  })
}

function distancesOf(state: ScanState, seconds: number): FrameDistances {
  const toKeyFrame = seconds - state.lastKeySeconds
  return {
    toSplitPoint: toKeyFrame,
    toKeyFrame,
    toAnySplitPoint: seconds - state.lastSplitPointSeconds,
    isShownLast: seconds > state.highestSeconds,
  }
}

/** Cuts sound about every second, where there are no pictures or they have long ended. */
export function splitAudio(state: ScanState, group: Group, plan: SplitPlan): void {
  const { section, init } = plan
  const video = init.tracks.findIndex((track) => track?.kind === 'video')
  const frames = group.before.progress[video]
  const end = frames === undefined ? -Infinity : frames.endSeconds - (section.origins[video] ?? NaN)
  forEachSample(group, plan, ({ at, ticks, seconds }) => {
    const distance = seconds - state.lastSplitPointSeconds
    const distances = { toVideo: seconds - end, toSplitPoint: distance, toAnySplitPoint: distance }
    if (at < plan.skip || !isAudioSplit(distances)) return
    addSplitPoint(state, group, { inside: at, ticks, track: plan.track, flags: 0 })
  })
}
