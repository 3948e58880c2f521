// The rules of the session's timeline, once for all containers: which times follow each other, and
// where a segment may begin. The rules are in seconds, and a reader binds them to its own ticks.
import { SPLIT_FORCED, SPLIT_KEY_FRAME } from '../media-index.ts'

/** Times of one track that go back further than this have jumped. */
export const MAX_BACK_SECONDS = 1
/** A larger forward step is a jump too, unless another track covers the gap. */
export const MAX_FORWARD_SECONDS = 10
/** A frame that is later than this may have a wrong timestamp: the next one decides. */
const MAX_STEP_SECONDS = 1
/** Duration of a frame whose successor is unknown. */
export const DEFAULT_FRAME_SECONDS = 1 / 25

/** A year: far beyond what recorders write. */
export const MAX_SESSION_SECONDS = 366 * 24 * 3600

const COMMON = {
  /** Key frames closer than this to the split point before are not split points. */
  keyFrameSeconds: 0.9,
  /** After this long without a key frame, other frames are forced split points, this far apart. */
  forcedAfterSeconds: 5,
  forcedSeconds: 2,
  /** Audio that continues for this long after the video has split points, this far apart. */
  audioAloneAfterSeconds: 5,
  audioSeconds: 1,
}

/** What the layout of a container changes. */
export const RULES = {
  fmp4: COMMON,
  // Tags are interleaved by time: forced split points bridge a shorter pause of the video.
  flv: { ...COMMON, audioAloneAfterSeconds: 10 },
  // A PES packet of audio is long, and players bridge a pause best inside a segment.
  ts: { ...COMMON, audioAloneAfterSeconds: 20, audioSeconds: 0.9 },
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
  // MP4 has no jumps, because its tables define the timeline. They list every key frame, and a
  // finished file is indexed once. FORCED_SAMPLES of its reader forces a split, too.
  mp4: { keyFrameSeconds: 0.5, forcedSeconds: 60, audioSeconds: COMMON.audioSeconds },
}

/** How far a frame is from what came before it, in ticks. */
export interface FrameDistances {
  /** To the last split point that a key frame needs distance from. */
  toSplitPoint: number
  /** To the last split point of any kind. */
  toAnySplitPoint: number
  toKeyFrame: number
  /** Whether no earlier frame is shown later: a forced split point must not be among B-frames. */
  isShownLast: boolean
}

/** How far audio is from what came before it, in ticks. */
export interface AudioDistances {
  toVideo: number
  toSplitPoint: number
  toAnySplitPoint: number
  /** Forced split points wait for this distance. Default `toVideo`. */
  toKeyFrame?: number
}

/**
 * The rules of a container for times in ticks. Each difference of ticks is divided once, which is
 * exact at every limit, so readers must not convert before they subtract.
 */
export function timelineRules(container: Exclude<keyof typeof RULES, 'mp4'>, timescale: number) {
  const rules = RULES[container]
  const isWithin = (ticks: number, from: number, to: number) =>
    ticks / timescale >= from && ticks / timescale <= to
  const follows = (ticks: number, last: number) =>
    isWithin(ticks - last, -MAX_BACK_SECONDS, MAX_FORWARD_SECONDS)
  const isNear = (a: number, b: number) =>
    isWithin(a - b, -MAX_FORWARD_SECONDS, MAX_FORWARD_SECONDS)
  const isAudioSplit = ({ toVideo, toSplitPoint }: AudioDistances) =>
    toVideo / timescale >= rules.audioAloneAfterSeconds &&
    toSplitPoint / timescale >= rules.audioSeconds
  const isForced = (toKeyFrame: number, toAnySplitPoint: number) =>
    toKeyFrame / timescale >= rules.forcedAfterSeconds &&
    toAnySplitPoint / timescale >= rules.forcedSeconds
  return {
    /** Whether a time can follow the last one of its track. */
    follows,
    /** Whether it follows without a pause. */
    followsSoon: (ticks: number, last: number) =>
      isWithin(ticks - last, -MAX_BACK_SECONDS, MAX_STEP_SECONDS),
    /** Whether two times can be on one clock. */
    isNear,
    /** As `follows`, for video: a pause that the audio covers is not a jump. */
    videoFollows: (ticks: number, last: number, audio: number | undefined) =>
      follows(ticks, last) || (ticks > last && audio !== undefined && isNear(ticks, audio)),
    /** Whether a time is too far before the last one of its track, or after the last one of any. */
    isJump: (
      { back, ahead }: { back: number; ahead: number },
      { maxBackSeconds = MAX_BACK_SECONDS, maxForwardSeconds = MAX_FORWARD_SECONDS } = {},
    ) => back / timescale > maxBackSeconds || ahead / timescale > maxForwardSeconds,
    /** The flags of the split point at a frame of video; 0: it is none. */
    videoSplitFlags: (isKey: boolean, distances: FrameDistances): number => {
      const { toSplitPoint, toAnySplitPoint, toKeyFrame, isShownLast } = distances
      if (isKey) return toSplitPoint / timescale >= rules.keyFrameSeconds ? SPLIT_KEY_FRAME : 0
      return isShownLast && isForced(toKeyFrame, toAnySplitPoint) ? SPLIT_FORCED : 0
    },
    /** Whether audio without video has a split point here. */
    isAudioSplit,
    /** As `isAudioSplit`, with forced split points while the video may still continue. */
    audioSplitFlags: (distances: AudioDistances): number | undefined => {
      const { toVideo, toAnySplitPoint, toKeyFrame = toVideo } = distances
      if (toVideo / timescale >= rules.audioAloneAfterSeconds)
        return isAudioSplit(distances) ? 0 : undefined
      return isForced(toKeyFrame, toAnySplitPoint) ? SPLIT_FORCED : undefined
    },
  }
}
