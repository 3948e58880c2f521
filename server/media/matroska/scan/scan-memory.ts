// The state of a scan that its index stores, so that the scan can resume, and in it that of the
// section that is being scanned: its clock, and how its frames are reordered. Times are ticks of
// CLOCK_RATE.
import { MAX_LIMITATIONS } from '../../media-index.ts'
import type { Limitation } from '../../../base/problem.ts'
import { CLOCK_RATE, type Section, type SectionRun, type TrackSet } from '../matroska-source.ts'
import type { ScanMemory } from '../matroska-source.ts'
import { DEFAULT_FRAME_SECONDS, RULES, timelineRules } from '../../timeline/timeline-rules.ts'

/** Default of TimestampScale (RFC 9559 5.1.2.9). */
export const DEFAULT_SCALE_NS = 1_000_000

export function createMemory(): Omit<ScanMemory, 'walkState'> {
  return {
    nsPerTick: DEFAULT_SCALE_NS,
    set: -1,
    tracksHash: '',
    hasSegment: false,
    needsSection: true,
    hasUndecodable: false,
    run: createRun(0, false),
    tentativeFrom: Infinity,
    firstClusterEnd: Infinity,
    sampleCount: 0,
    hasSeenFrame: false,
    hasSeenUndecodable: false,
    pendingCues: [],
    settledCues: [],
    cueCount: 0,
    cueCharacters: 0,
    limitations: [],
  }
}

/** Leaves room for one more, which describes the end of the file. */
export function recordLimitation(
  { limitations }: Pick<ScanMemory, 'limitations'>,
  limitation: Limitation,
): void {
  if (limitations.length < MAX_LIMITATIONS - 1) limitations.push(limitation)
}

const { isJump } = timelineRules('matroska', CLOCK_RATE)
export const LONE_FRAME_TICKS = DEFAULT_FRAME_SECONDS * CLOCK_RATE
/** Number of frames that determines the reorder delay. */
const MAX_MEASURED_FRAMES = 600

export function createRun(startTicks: number, hasUndecodable: boolean): SectionRun {
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
    hasUndecodable,
    lastAudioTicks: -Infinity,
    audioEndTicks: -Infinity,
    expected: [],
  }
}

/** Whether a time jumps in the current section. */
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
  // After a pause, frames presented at its start are decoded after the frame that ends it.
  const back = ticks > run.priorMaxFrameTicks ? 0 : run.maxFrameTicks - ticks
  return isJump({ ahead, back }, { ...limits, maxBackSeconds: maxReorderedBackSeconds })
}

export function recordFrame(run: SectionRun, frame: FrameTimes): void {
  const { ticks, durationTicks, isKey } = frame
  if (run.frameCount === 0) run.firstFrameTicks = ticks
  run.frameCount += 1
  if (ticks > run.maxFrameTicks) run.lastFrameDurationTicks = durationTicks
  if (ticks > run.maxFrameTicks) {
    run.priorMaxFrameTicks = run.maxFrameTicks
    run.maxFrameTicks = ticks
  }
  // The declared duration of a frame can announce a pause.
  run.latestTicks = Math.max(run.latestTicks, ticks + durationTicks)
  if (!run.isSettled) run.originTicks = Math.min(run.originTicks, ticks)
  if (isKey) run.lastKeyTicks = ticks
  if (!run.isDelaySettled) run.frameTicks.push(ticks)
}

export interface FrameTimes {
  ticks: number
  /** 0 if not declared. */
  durationTicks: number
  isKey: boolean
}

/** Whether the reorder delay can be final before the first split point ends. */
export function hasEnoughFrames({ frameTicks }: SectionRun): boolean {
  return frameTicks.length >= MAX_MEASURED_FRAMES
}

/** End of the video so far; -Infinity without frames. */
export function frameEnd(run: SectionRun, set: TrackSet | undefined): number {
  if (run.frameCount === 0) return -Infinity
  const { maxFrameTicks, firstFrameTicks, frameCount, lastFrameDurationTicks } = run
  const average = frameCount > 1 ? (maxFrameTicks - firstFrameTicks) / (frameCount - 1) : 0
  const declaredTicks = (set?.video?.defaultDurationTicks ?? 0) || lastFrameDurationTicks
  return maxFrameTicks + (declaredTicks || Math.round(Math.max(0, average)) || LONE_FRAME_TICKS)
}

/**
 * Subtracted from the section's clock to get session time; provisional until the section is
 * settled.
 */
export function shiftOf(run: SectionRun, section: Section): number {
  if (run.isSettled) return section.shiftTicks
  const origin = run.originTicks === Infinity ? 0 : run.originTicks
  return origin - run.startTicks - decodeLeadOf(run, origin)
}

/**
 * Time needed before the first presentation: decode times start at 0 and increase by at least one
 * tick per frame.
 */
function decodeLeadOf({ frameTicks }: SectionRun, originTicks: number): number {
  return frameTicks.reduce((lift, ticks, i) => Math.max(lift, i - (ticks - originTicks)), 0)
}

/**
 * The smallest delay for which the n-th presentation time minus the delay, which is the n-th decode
 * time, never exceeds that frame's presentation time.
 */
export function delayOf({ frameTicks }: SectionRun): number {
  const sorted = Float64Array.from(frameTicks).sort()
  return frameTicks.reduce((delay, ticks, i) => Math.max(delay, (sorted[i] ?? 0) - ticks), 0)
}
