// Finds the places in a group of fragments where a segment may begin: key frames, pictures in mid-GOP, and sound without pictures.
import { CUT_KEY, CUT_MID } from '../media-index.ts'
import type { Fmp4Init, Fmp4Section } from './fmp4-source.ts'
import {
  type Group,
  type ScanState,
  type TimedSamples,
  sectionSeconds,
  servedTicks,
} from './scan-state.ts'
import { addCut } from './section.ts'

const MIN_KEY_SECONDS = 0.9
/** Pictures in mid-GOP become cuts about so often, once no key frame has come for so long. */
const MID_SECONDS = 2
const MID_WAIT_SECONDS = 5
const SOUND_CUT_SECONDS = 1
/** Sound that outlasts the pictures by so much is cut without them. */
const TAIL_SECONDS = 5

/** What is cut. */
export interface CutPlan {
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
  { section, init, track: number }: Pick<CutPlan, 'section' | 'init' | 'track'>,
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
export function cutPictures(state: ScanState, group: Group, plan: CutPlan): void {
  forEachSample(group, plan, ({ at, isKey, ticks, seconds }) => {
    const flags = at < plan.skip ? 0 : pictureFlags(state, isKey, seconds)
    if (flags !== 0) addCut(state, group, { inside: at, ticks, track: plan.track, flags })
    if (flags === CUT_KEY) state.lastKeySeconds = seconds
    state.highestSeconds = Math.max(state.highestSeconds, seconds)
  })
}

/** Pictures in mid-GOP are cut where nothing was shown later: not between B-frames. */
function pictureFlags(state: ScanState, isKey: boolean, seconds: number): number {
  const { lastKeySeconds, lastCutSeconds, highestSeconds } = state
  if (isKey) return seconds - lastKeySeconds >= MIN_KEY_SECONDS ? CUT_KEY : 0
  const isFar = seconds - lastKeySeconds >= MID_WAIT_SECONDS
  return isFar && seconds - lastCutSeconds >= MID_SECONDS && seconds > highestSeconds ? CUT_MID : 0
}

/** Cuts sound about every second, where there are no pictures or they have long ended. */
export function cutSound(state: ScanState, group: Group, plan: CutPlan): void {
  const { section, init } = plan
  const video = init.tracks.findIndex((track) => track?.kind === 'video')
  const pictures = group.before.progress[video]
  const end =
    pictures === undefined ? -Infinity : pictures.endSeconds - (section.origins[video] ?? NaN)
  forEachSample(group, plan, ({ at, ticks, seconds }) => {
    if (at < plan.skip || seconds - state.lastCutSeconds < SOUND_CUT_SECONDS) return
    if (!(seconds - end >= TAIL_SECONDS)) return
    addCut(state, group, { inside: at, ticks, track: plan.track, flags: 0 })
  })
}
