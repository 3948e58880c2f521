// What a scan knows of the section it is in: its clock, its pictures, and how they are reordered. Times are ticks of CLOCK_RATE.
import { LONE_FRAME_SECONDS, RULES, timelineRules } from '../../timeline/timeline-rules.ts'
import { CLOCK_RATE, type Section, type SectionRun, type TrackSet } from '../matroska-source.ts'

const { isJump } = timelineRules('matroska', CLOCK_RATE)
export const LONE_FRAME_TICKS = LONE_FRAME_SECONDS * CLOCK_RATE
/** So many pictures tell by how much decoding must run ahead. */
const MAX_MEASURED_FRAMES = 600

export function createRun(startTicks: number, hasOrphans: boolean): SectionRun {
  return {
    startTicks,
    originTicks: Infinity,
    isSettled: false,
    isDelaySettled: false,
    latestTicks: -Infinity,
    frameCount: 0,
    firstFrameTicks: 0,
    maxFrameTicks: -Infinity,
    priorMaxFrameTicks: -Infinity,
    lastKeyTicks: -Infinity,
    lastFrameDurationTicks: 0,
    frameTicks: [],
    hasOrphans,
    lastAudioTicks: -Infinity,
    audioEndTicks: -Infinity,
    expected: [],
  }
}

/** Whether a time jumps, in a section with these tracks. */
export function hasJumped(
  run: SectionRun,
  { kind, ticks }: { kind: 'video' | 'audio'; ticks: number },
  set: TrackSet | undefined,
): boolean {
  if (run.latestTicks === -Infinity) return false
  const { maxStillSeconds, maxReorderedBackSeconds } = RULES.matroska
  const limits = set?.audioTracks[0] === undefined ? { maxForwardSeconds: maxStillSeconds } : {}
  const ahead = ticks - run.latestTicks
  if (kind === 'audio') return isJump({ ahead, back: run.lastAudioTicks - ticks }, limits)
  // After a pause, frames that are shown at its start are decoded after the one that ends it.
  const back = ticks > run.priorMaxFrameTicks ? 0 : run.maxFrameTicks - ticks
  return isJump({ ahead, back }, { ...limits, maxBackSeconds: maxReorderedBackSeconds })
}

export function noteFrame(run: SectionRun, frame: FrameTimes): void {
  const { ticks, durationTicks, isKey } = frame
  if (run.frameCount === 0) run.firstFrameTicks = ticks
  run.frameCount += 1
  if (ticks > run.maxFrameTicks) run.lastFrameDurationTicks = durationTicks
  if (ticks > run.maxFrameTicks) {
    run.priorMaxFrameTicks = run.maxFrameTicks
    run.maxFrameTicks = ticks
  }
  // A picture that says how long it is shown announces a pause.
  run.latestTicks = Math.max(run.latestTicks, ticks + durationTicks)
  if (!run.isSettled) run.originTicks = Math.min(run.originTicks, ticks)
  if (isKey) run.lastKeyTicks = ticks
  if (!run.isDelaySettled) run.frameTicks.push(ticks)
}

export interface FrameTimes {
  ticks: number
  /** 0 where it is not said. */
  durationTicks: number
  isKey: boolean
}

/** Whether enough pictures were seen to settle the delay, even if the first cut is not over. */
export function hasMeasured({ frameTicks }: SectionRun): boolean {
  return frameTicks.length >= MAX_MEASURED_FRAMES
}

/** Where the pictures so far end; -Infinity without any. */
export function frameEnd(run: SectionRun, set: TrackSet | undefined): number {
  if (run.frameCount === 0) return -Infinity
  const { maxFrameTicks, firstFrameTicks, frameCount, lastFrameDurationTicks } = run
  const average = frameCount > 1 ? (maxFrameTicks - firstFrameTicks) / (frameCount - 1) : 0
  const told = (set?.video?.defaultDurationTicks ?? 0) || lastFrameDurationTicks
  return maxFrameTicks + (told || Math.round(Math.max(0, average)) || LONE_FRAME_TICKS)
}

/** What is taken from the section's clock to get the session's, as far as it is known. */
export function shiftOf(run: SectionRun, section: Section): number {
  if (run.isSettled) return section.shiftTicks
  const origin = run.originTicks === Infinity ? 0 : run.originTicks
  return origin - run.startTicks - liftOf(run, origin)
}

/** Decode times begin at 0 and grow by at least one tick: pictures that are shown first and decoded later need that room. */
function liftOf({ frameTicks }: SectionRun, originTicks: number): number {
  return frameTicks.reduce((lift, ticks, i) => Math.max(lift, i - (ticks - originTicks)), 0)
}

/**
 * By how much pictures are decoded before they are shown: so much that the n-th decode time, which is the n-th
 * presentation time less this, is never behind the picture's own.
 */
export function delayOf({ frameTicks }: SectionRun): number {
  const sorted = Float64Array.from(frameTicks).sort()
  return frameTicks.reduce((delay, ticks, i) => Math.max(delay, (sorted[i] ?? 0) - ticks), 0)
}
