// The position of a message on the timeline of its session. Pure.
import type { ChatVideo } from './chat-message.ts'
import type { ChatFormat } from './chat-formats.ts'

/** A recording that a chat covers. */
export interface ChatPart {
  /** On the timeline of the session. */
  startSeconds: number
  durationSeconds: number
  /** When it starts, in milliseconds since 1970, if that is known. */
  startMs?: number | undefined
}

/** Times of a message; NaN where the file has none. */
export interface MessageTimes {
  offsetSeconds: number
  clockMs: number
}

export interface ChatTimeline {
  /** First and last position that messages may have. */
  startSeconds: number
  endSeconds: number
  /** Position in the session, maybe before its start or after its end; NaN if it is unknown. */
  place(this: void, times: MessageTimes): number
}

export interface ChatTimelineOptions {
  time: ChatFormat['time']
  video: ChatVideo
  /** In order; at least one. */
  parts: readonly ChatPart[]
  /** The first message of the file. */
  first: MessageTimes
  /** The last part may become longer. */
  isGrowing: boolean
  /** Added to each position. */
  offsetSeconds: number
}

/** TwitchDownloader corrects offsets that are this much later than the times of the messages. */
const MAX_DRIFT_SECONDS = 5
/** Offsets in whole seconds are this far from the time of the message. */
const ROUNDED_SECONDS = 1
/** A recorder starts this long after a message, at most. */
const EARLY_SECONDS = 3600
/** Clocks that differ by a multiple of a zone's step, within a tolerance, are in another zone. */
const ZONE_STEP_SECONDS = 1800
const ZONE_TOLERANCE_SECONDS = 120
/** No session is longer. */
export const MAX_CHAT_SECONDS = 7 * 24 * 3600

/**
 * - Positions count from the start of the first part.
 * - If both start times are known, the time of the message counts: recorders start late.
 * - A download that starts inside of the video starts at position 0, unless the recording is as
 *   long as the whole video.
 */
export function createChatTimeline(options: ChatTimelineOptions): ChatTimeline {
  const { place, ...range } = findTimeline(options)
  return { ...range, place: (times) => place(times) + options.offsetSeconds }
}

function findTimeline(options: ChatTimelineOptions): ChatTimeline {
  const { parts, first, isGrowing } = options
  const startSeconds = parts[0]?.startSeconds ?? 0
  const last = parts.at(-1)
  const knownEnd = last === undefined ? 0 : last.startSeconds + last.durationSeconds
  const endSeconds = isGrowing ? MAX_CHAT_SECONDS : Math.min(knownEnd, MAX_CHAT_SECONDS)
  const range = { startSeconds, endSeconds }
  const byOffset = placeByOffset(options, range)
  const byClock = placeByClock(parts)
  const hasClock = byClock !== undefined && !Number.isNaN(first.clockMs)
  const offset = byOffset(first)
  if (Number.isNaN(offset)) {
    // Without a start, the first message is at the start.
    const anchored = (clockMs: number): number => startSeconds + (clockMs - first.clockMs) / 1000
    const place = hasClock ? byClock : anchored
    return { ...range, place: ({ clockMs }) => place(clockMs) }
  }
  const countsClock = options.time !== 'offset' && hasClock && !isClipped(options, range)
  const clock = countsClock ? byClock(first.clockMs) : NaN
  const isNear = clock >= startSeconds - EARLY_SECONDS && clock <= endSeconds
  if (!countsClock || !isNear || isOtherZone(clock - offset)) return { ...range, place: byOffset }
  const place = (times: MessageTimes): number =>
    Number.isNaN(times.clockMs) ? byOffset(times) : byClock(times.clockMs)
  return { ...range, place }
}

interface SessionRange {
  startSeconds: number
  endSeconds: number
}

/** Whether the file and the recording start inside of the video. */
function isClipped({ video, isGrowing }: ChatTimelineOptions, range: SessionRange): boolean {
  const { startSeconds = 0, endSeconds = 0, lengthSeconds = 0 } = video
  if (startSeconds <= 0) return false
  if (endSeconds <= startSeconds || lengthSeconds <= 0 || isGrowing) return true
  const duration = range.endSeconds - range.startSeconds
  const asClip = Math.abs(duration - (endSeconds - startSeconds))
  return Math.abs(duration - lengthSeconds) >= asClip
}

function placeByOffset(
  options: ChatTimelineOptions,
  range: SessionRange,
): (times: MessageTimes) => number {
  const { first, video } = options
  const { createdMs = NaN, startSeconds: clipSeconds = 0 } = video
  const origin = range.startSeconds - (isClipped(options, range) ? clipSeconds : 0)
  const sinceCreated = (clockMs: number): number => (clockMs - createdMs) / 1000
  const late = first.offsetSeconds - sinceCreated(first.clockMs)
  const drift = Math.min(late, first.offsetSeconds)
  const isWrong = drift >= MAX_DRIFT_SECONDS
  return ({ offsetSeconds, clockMs }) => {
    const precise = sinceCreated(clockMs)
    const corrected = isWrong ? offsetSeconds - drift : offsetSeconds
    const isSame = Math.abs(precise - corrected) <= ROUNDED_SECONDS
    return origin + (isSame ? precise : corrected)
  }
}

/** Undefined if no start is known. */
function placeByClock(parts: readonly ChatPart[]): ((clockMs: number) => number) | undefined {
  const starts: { part: ChatPart; startMs: number }[] = []
  for (const part of parts) {
    const before = starts.at(-1)
    const endMs = before && before.startMs + before.part.durationSeconds * 1000
    const isLater = before === undefined || (part.startMs ?? 0) > before.startMs
    const startMs = isLater ? (part.startMs ?? endMs) : endMs
    if (startMs === undefined) return undefined
    starts.push({ part, startMs })
  }
  if (starts.length === 0) return undefined
  return (clockMs) => {
    const found = starts.findLast(({ startMs }) => startMs <= clockMs) ?? starts[0]
    if (found === undefined) return NaN
    const { part, startMs } = found
    const seconds = (clockMs - startMs) / 1000
    // Between two parts, nothing was recorded.
    const isLast = found === starts.at(-1)
    return part.startSeconds + (isLast ? seconds : Math.min(seconds, part.durationSeconds))
  }
}

function isOtherZone(differenceSeconds: number): boolean {
  const steps = Math.round(differenceSeconds / ZONE_STEP_SECONDS)
  const rest = Math.abs(differenceSeconds - steps * ZONE_STEP_SECONDS)
  return steps !== 0 && rest <= ZONE_TOLERANCE_SECONDS
}
