// Finds the split points in a group of fragments: key frames, forced splits, and audio without
// video.
import { SPLIT_KEY_FRAME } from '../../media-index.ts'
import { isStartOpen } from '../../timeline/split-points.ts'
import { type FrameDistances, timelineRules } from '../../timeline/timeline-rules.ts'
import type { Fmp4Init, Fmp4Section } from '../fmp4-source.ts'
import {
  type Group,
  type ScanState,
  type TimedSamples,
  sectionSeconds,
  servedTicks,
} from './scan-state.ts'
import { addSplitPoint, moveSplitPointBack } from './section.ts'

const { isAudioSplit, videoSplitFlags } = timelineRules('fmp4', 1)

/** The track to split. */
export interface SplitTarget {
  section: Fmp4Section
  init: Fmp4Init
  /** Position of the track in `Fmp4Init.tracks`. */
  track: number
  /** How many of its first samples to ignore. */
  skip: number
}

/** The samples of a track in a group. */
export function samplesOf({ fragments }: Group, track: number): TimedSamples[] {
  return fragments.flatMap(({ runs }) => runs.filter((run) => run.track === track))
}

export interface VisitedSample {
  /** Number among the track's samples in the group. */
  at: number
  isKey: boolean
  /** Presentation time on the file's clock, in output ticks. */
  ticks: number
  /** The same in seconds after the section's origin. */
  seconds: number
}

/** Calls `visit` for each sample of a track in a group, with one reused object. */
export function forEachSample(
  group: Group,
  { section, init, track: number }: Pick<SplitTarget, 'section' | 'init' | 'track'>,
  visit: (sample: VisitedSample) => void,
): void {
  const track = init.tracks[number]
  if (track === undefined) return
  const trackClock = { number, timescale: track.timescale }
  const sample: VisitedSample = { at: 0, isKey: false, ticks: 0, seconds: 0 }
  for (const run of samplesOf(group, number)) {
    let { decodeTicks } = run
    for (let i = 0; i < run.sizes.length; i += 1) {
      sample.ticks = servedTicks(track, decodeTicks + (run.compositionOffsets[i] ?? 0))
      sample.seconds = sectionSeconds(section, trackClock, sample.ticks)
      sample.isKey = run.keys[i] === 1
      visit(sample)
      decodeTicks += run.durations[i] ?? 0
      sample.at += 1
    }
  }
}

/** Splits video at key frames, and inside long GOPs. */
export function splitVideo(state: ScanState, group: Group, target: SplitTarget): void {
  forEachSample(group, target, ({ at, isKey, ticks, seconds }) => {
    const flags = at < target.skip ? 0 : videoSplitFlags(isKey, distancesOf(state, seconds))
    if (flags !== 0)
      addSplitPoint(state, group, { samplesBefore: at, ticks, track: target.track, flags })
    else if (at >= target.skip && isLastOpen(state))
      moveSplitPointBack(state, target.section, ticks)
    if (flags === SPLIT_KEY_FRAME) state.lastKeySeconds = seconds
    state.latestFrameSeconds = Math.max(state.latestFrameSeconds, seconds)
  })
}

/** Whether the start of the last split point may move. */
function isLastOpen(state: ScanState): boolean {
  return isStartOpen(state.splitPoints.flags.at(-1), state.latestFrameSeconds, state.lastKeySeconds)
}

function distancesOf(state: ScanState, seconds: number): FrameDistances {
  const toKeyFrame = seconds - state.lastKeySeconds
  return {
    toSplitPoint: toKeyFrame,
    toKeyFrame,
    toAnySplitPoint: seconds - state.lastSplitPointSeconds,
    isShownLast: seconds > state.latestFrameSeconds,
  }
}

/** Splits audio about every second if there is no video, or the video ended long before. */
export function splitAudio(state: ScanState, group: Group, target: SplitTarget): void {
  const { section, init } = target
  const video = init.tracks.findIndex((track) => track?.kind === 'video')
  const videoProgress = group.stateBefore.progress[video]
  const end =
    videoProgress === undefined
      ? -Infinity
      : videoProgress.endSeconds - (section.origins[video] ?? NaN)
  forEachSample(group, target, ({ at, ticks, seconds }) => {
    const distance = seconds - state.lastSplitPointSeconds
    const distances = { toVideo: seconds - end, toSplitPoint: distance, toAnySplitPoint: distance }
    if (at < target.skip || !isAudioSplit(distances)) return
    addSplitPoint(state, group, { samplesBefore: at, ticks, track: target.track, flags: 0 })
  })
}
