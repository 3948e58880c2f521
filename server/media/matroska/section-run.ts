// What a scan knows of the section it is in: its clock, its pictures, and how they are reordered. Times are ticks of CLOCK_RATE.
import { CLOCK_RATE, type Section, type SectionRun, type TrackSet } from './matroska-source.ts'

const MAX_FORWARD_TICKS = 10 * CLOCK_RATE
/** Pictures without sound may stand still for long: a shared screen is recorded when it changes. */
const MAX_STILL_TICKS = 60 * CLOCK_RATE
const MAX_SOUND_BACK_TICKS = CLOCK_RATE
/** Pictures are reordered: few a second may go back further than sound without a break. */
const MAX_PICTURE_BACK_TICKS = 2 * CLOCK_RATE
/** Length of a picture of which nothing is known: a 25th of a second. */
export const LONE_PICTURE_TICKS = CLOCK_RATE / 25
/** So many pictures tell by how much decoding must run ahead. */
const MAX_MEASURED_PICTURES = 600

export function createRun(startTicks: number, hasOrphans: boolean): SectionRun {
  return {
    startTicks,
    originTicks: Infinity,
    isSettled: false,
    isDelaySettled: false,
    latestTicks: -Infinity,
    pictureCount: 0,
    firstPictureTicks: 0,
    maxPictureTicks: -Infinity,
    priorMaxPictureTicks: -Infinity,
    lastKeyTicks: -Infinity,
    lastPictureDurationTicks: 0,
    pictureTicks: [],
    hasOrphans,
    lastSoundTicks: -Infinity,
    soundEndTicks: -Infinity,
    expected: [],
  }
}

/** Whether time stamps jump: back, or far on while nothing else went on. `set`: the tracks of the section. */
export function isJump(
  run: SectionRun,
  { kind, ticks }: { kind: 'video' | 'audio'; ticks: number },
  set: TrackSet | undefined,
): boolean {
  if (run.latestTicks === -Infinity) return false
  const isAlone = set?.sounds[0] === undefined
  if (ticks - run.latestTicks > (isAlone ? MAX_STILL_TICKS : MAX_FORWARD_TICKS)) return true
  return kind === 'video' ? isBack(run, ticks) : run.lastSoundTicks - ticks > MAX_SOUND_BACK_TICKS
}

/** Behind a pause the picture that ends it is decoded first, and those that are shown at its beginning later. */
function isBack({ maxPictureTicks, priorMaxPictureTicks }: SectionRun, ticks: number): boolean {
  return ticks <= priorMaxPictureTicks && maxPictureTicks - ticks > MAX_PICTURE_BACK_TICKS
}

export function notePicture(run: SectionRun, picture: PictureTimes): void {
  const { ticks, durationTicks, isKey } = picture
  if (run.pictureCount === 0) run.firstPictureTicks = ticks
  run.pictureCount += 1
  if (ticks > run.maxPictureTicks) run.lastPictureDurationTicks = durationTicks
  if (ticks > run.maxPictureTicks) {
    run.priorMaxPictureTicks = run.maxPictureTicks
    run.maxPictureTicks = ticks
  }
  // A picture that says how long it is shown announces a pause.
  run.latestTicks = Math.max(run.latestTicks, ticks + durationTicks)
  if (!run.isSettled) run.originTicks = Math.min(run.originTicks, ticks)
  if (isKey) run.lastKeyTicks = ticks
  if (!run.isDelaySettled) run.pictureTicks.push(ticks)
}

export interface PictureTimes {
  ticks: number
  /** 0 where it is not said. */
  durationTicks: number
  isKey: boolean
}

/** Whether enough pictures were seen to settle the delay, even if the first cut is not over. */
export function hasMeasured({ pictureTicks }: SectionRun): boolean {
  return pictureTicks.length >= MAX_MEASURED_PICTURES
}

/** Where the pictures so far end; -Infinity without any. */
export function pictureEnd(run: SectionRun, set: TrackSet | undefined): number {
  if (run.pictureCount === 0) return -Infinity
  const { maxPictureTicks, firstPictureTicks, pictureCount, lastPictureDurationTicks } = run
  const average = pictureCount > 1 ? (maxPictureTicks - firstPictureTicks) / (pictureCount - 1) : 0
  const told = (set?.video?.defaultDurationTicks ?? 0) || lastPictureDurationTicks
  return maxPictureTicks + (told || Math.round(Math.max(0, average)) || LONE_PICTURE_TICKS)
}

/** What is taken from the section's clock to get the session's, as far as it is known. */
export function shiftOf(run: SectionRun, section: Section): number {
  if (run.isSettled) return section.shiftTicks
  const origin = run.originTicks === Infinity ? 0 : run.originTicks
  return origin - run.startTicks - liftOf(run, origin)
}

/** Decode times begin at 0 and grow by at least one tick: pictures that are shown first and decoded later need that room. */
function liftOf({ pictureTicks }: SectionRun, originTicks: number): number {
  return pictureTicks.reduce((lift, ticks, i) => Math.max(lift, i - (ticks - originTicks)), 0)
}

/**
 * By how much pictures are decoded before they are shown: so much that the n-th decode time, which is the n-th
 * presentation time less this, is never behind the picture's own.
 */
export function delayOf({ pictureTicks }: SectionRun): number {
  const sorted = Float64Array.from(pictureTicks).sort()
  return pictureTicks.reduce((delay, ticks, i) => Math.max(delay, (sorted[i] ?? 0) - ticks), 0)
}
