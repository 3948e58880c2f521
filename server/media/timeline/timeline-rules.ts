// The rules of the session's timeline, once for all containers: which times follow each other, and
// where a segment may begin. Every argument is a distance in seconds: readers subtract in their
// own ticks and divide once, which is exact at each of these limits.
import { SPLIT_FORCED, SPLIT_KEY_FRAME } from '../media-index.ts'

/** Times of one track that go back further than this have jumped. */
const MAX_BACK_SECONDS = 1
/** So have those that go forward further than this, unless the other track covers the gap. */
export const MAX_FORWARD_SECONDS = 10
/** A later frame may have a wrong time stamp: the next one decides. */
const MAX_STEP_SECONDS = 1
/** Duration of a frame whose successor is unknown. */
export const LONE_FRAME_SECONDS = 1 / 25

/** Bounds of one recording: each is far beyond what recorders write in days. */
export const MAX_SPLIT_POINTS = 1_000_000
export const MAX_SECTIONS = 10_000
/** Longest session: a year. */
export const MAX_SESSION_SECONDS = 366 * 24 * 3600

/** Distances between split points, and what a container's layout changes about them. */
export interface TimelineRules {
  /** Key frames closer than this to the split point before are not split points. */
  keyFrameSeconds: number
  /** After so long without a key frame, other frames become forced split points. */
  forcedAfterSeconds: number
  /** Distance between forced split points. */
  forcedSeconds: number
  /** Distance between split points in audio without video. */
  audioSeconds: number
  /** Audio that continues for so long after the video has split points of its own. */
  audioAloneAfterSeconds: number
}

const COMMON: TimelineRules = {
  keyFrameSeconds: 0.9,
  forcedAfterSeconds: 5,
  forcedSeconds: 2,
  audioSeconds: 1,
  audioAloneAfterSeconds: 5,
}

export const RULES = {
  fmp4: COMMON,
  // Tags are interleaved by time: forced split points bridge a shorter pause of the video.
  flv: { ...COMMON, audioAloneAfterSeconds: 10 },
  // A PES packet of audio is long, and players bridge a pause inside a segment best.
  ts: { ...COMMON, audioSeconds: 0.9, audioAloneAfterSeconds: 20 },
  matroska: {
    ...COMMON,
    // These split points are tentative: the next frame of video removes them, before this long.
    audioAloneAfterSeconds: 1,
    audioFinalAfterSeconds: 15,
    // Blocks have presentation times alone, and frames are reordered.
    maxReorderedBackSeconds: 2,
    // Video without audio may pause: a shared screen is recorded when it changes.
    maxStillSeconds: 60,
  },
  // Its tables list every key frame, and the index of a finished file is read once.
  mp4: { ...COMMON, keyFrameSeconds: 0.5 },
}

/** Whether a time can follow the last one of its track. */
export function follows(stepSeconds: number): boolean {
  return stepSeconds >= -MAX_BACK_SECONDS && stepSeconds <= MAX_FORWARD_SECONDS
}

/** Whether it follows without a pause. */
export function followsSoon(stepSeconds: number): boolean {
  return follows(stepSeconds) && stepSeconds <= MAX_STEP_SECONDS
}

/** Whether two times can be on one clock. */
export function isNear(distanceSeconds: number): boolean {
  return Math.abs(distanceSeconds) <= MAX_FORWARD_SECONDS
}

/** As `follows`, for video: a pause that the audio covers is not a jump. */
export function videoFollows(stepSeconds: number, fromAudioSeconds: number | undefined): boolean {
  if (follows(stepSeconds)) return true
  return stepSeconds > 0 && fromAudioSeconds !== undefined && isNear(fromAudioSeconds)
}

/** Limits of `isJump`, where a container needs others. */
export interface JumpLimits {
  maxBackSeconds?: number
  maxForwardSeconds?: number
}

/** Whether a time is too far before the last one of its track, or after the last one of any track. */
export function isJump(
  { backSeconds, aheadSeconds }: { backSeconds: number; aheadSeconds: number },
  { maxBackSeconds = MAX_BACK_SECONDS, maxForwardSeconds = MAX_FORWARD_SECONDS }: JumpLimits = {},
): boolean {
  return backSeconds > maxBackSeconds || aheadSeconds > maxForwardSeconds
}

/** How far a frame is from what came before it. */
export interface FrameDistances {
  /** From the last split point that a key frame needs distance from. */
  toSplitPoint: number
  toKeyFrame: number
  /** From the last split point of any kind. */
  toAnySplitPoint: number
  /** Whether no earlier frame is shown later: a forced split point must not be among B-frames. */
  isShownLast: boolean
}

/** The flags of the split point at a frame of video; 0: it is none. */
export function videoSplitFlags(
  isKey: boolean,
  distances: FrameDistances,
  rules: TimelineRules = COMMON,
): number {
  if (isKey) return distances.toSplitPoint >= rules.keyFrameSeconds ? SPLIT_KEY_FRAME : 0
  return distances.isShownLast &&
    distances.toKeyFrame >= rules.forcedAfterSeconds &&
    distances.toAnySplitPoint >= rules.forcedSeconds
    ? SPLIT_FORCED
    : 0
}

/** Whether audio that has continued for `aloneSeconds` after the video has a split point here. */
export function isAudioSplit(
  aloneSeconds: number,
  toAnySplitPoint: number,
  rules: TimelineRules,
): boolean {
  return aloneSeconds >= rules.audioAloneAfterSeconds && toAnySplitPoint >= rules.audioSeconds
}
