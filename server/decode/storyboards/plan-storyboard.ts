// Plans the storyboard of a session: its cues, and which key frame each shows. Pure: equal input
// gives an equal plan on each node.
import { SPLIT_KEY_FRAME } from '../../media/media-index.ts'
import type { PartFrames } from '../../media/media-reader.ts'

/** What a plan depends on. */
export type PlannedPart = Omit<PartFrames, 'isFinal' | 'open'>

/** A key frame: which part of the session it is in, and at which split point. */
export interface FramePosition {
  part: number
  splitPoint: number
}

export interface StoryboardPlan {
  durationMs: number
  /** Length of each cue except the last. */
  stepMs: number
  tileHeight: number
  /** The frame that each cue shows: the last one at or before its start, else the first one. */
  frames: readonly FramePosition[]
}

export const TILE_WIDTH = 160
export const SHEET_COLUMNS = 5
const SHEET_ROWS = 5
export const SHEET_TILES = SHEET_COLUMNS * SHEET_ROWS
export const MAX_CUES = 200

/** Steps in seconds. Few, because new ones make all sheets of a growing recording again. */
const STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 1200, 1800, 3600]
/** With a shorter step, a recording has one sheet: more detail is not worth the decoding. */
const SHORTEST_FULL_STEP = 10
/** Extremely wide or narrow video gets bars. Multiples of 2, for 4:2:0 chroma. */
const MIN_TILE_HEIGHT = 32
const MAX_TILE_HEIGHT = 320

/** Whether a session has a storyboard; as `planStoryboard`, which takes longer. */
export function hasStoryboard(parts: readonly PlannedPart[]): boolean {
  const isListed = ({ splitPoints, listedSplitPoints }: PlannedPart): boolean =>
    splitPoints.flags
      .subarray(0, listedSplitPoints)
      .some((flags) => (flags & SPLIT_KEY_FRAME) !== 0)
  return totalMs(parts) > 0 && parts.some(isListed)
}

/** Undefined for a session without any listed key frame. */
export function planStoryboard(parts: readonly PlannedPart[]): StoryboardPlan | undefined {
  const durationMs = totalMs(parts)
  const stepMs = chooseStepMs(durationMs)
  const frames = findFrames(parts, { durationMs, stepMs })
  if (frames === undefined) return undefined
  return { durationMs, stepMs, tileHeight: chooseTileHeight(parts), frames }
}

/** The plan that was valid before the recording has grown to its step; undefined for the first. */
export function planShorterStep(
  parts: readonly PlannedPart[],
  { durationMs, stepMs, tileHeight }: StoryboardPlan,
): StoryboardPlan | undefined {
  const shorter = STEPS.findLast((step) => step * 1000 < stepMs)
  if (shorter === undefined) return undefined
  const earlierMs = Math.min(durationMs, longestMs(shorter))
  const earlier = { durationMs: earlierMs, stepMs: shorter * 1000 }
  const frames = findFrames(parts, earlier)
  return frames && { ...earlier, tileHeight, frames }
}

/** The shortest step of the list that needs no more cues than allowed; beyond it, full hours. */
export function chooseStepMs(durationMs: number): number {
  const hours = Math.ceil(durationMs / (MAX_CUES * 3_600_000))
  return 1000 * (STEPS.find((step) => durationMs <= longestMs(step)) ?? hours * 3600)
}

/** The longest duration with this step. */
function longestMs(step: number): number {
  return 1000 * step * (step < SHORTEST_FULL_STEP ? SHEET_TILES : MAX_CUES)
}

function totalMs(parts: readonly PlannedPart[]): number {
  return Math.round(1000 * parts.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0))
}

/** The tile has the aspect ratio of the first video. */
function chooseTileHeight(parts: readonly PlannedPart[]): number {
  const { width = 0, height = 0 } = firstSize(parts) ?? {}
  if (width <= 0 || height <= 0) return (TILE_WIDTH * 9) / 16
  const even = 2 * Math.round((TILE_WIDTH * height) / (2 * width))
  return Math.min(MAX_TILE_HEIGHT, Math.max(MIN_TILE_HEIGHT, even))
}

/** Of the first part that has video. */
function firstSize(parts: readonly PlannedPart[]): ReturnType<PlannedPart['size']> {
  for (const { size } of parts) {
    const found = size()
    if (found !== undefined) return found
  }
  return undefined
}

/** Undefined if there is no key frame. One pass over all split points. */
function findFrames(
  parts: readonly PlannedPart[],
  { durationMs, stepMs }: Pick<StoryboardPlan, 'durationMs' | 'stepMs'>,
): FramePosition[] | undefined {
  const cues = Math.ceil(durationMs / stepMs)
  const frames: FramePosition[] = []
  let shown: FramePosition | undefined
  for (const { frame, startMs } of eachKeyFrame(parts)) {
    while (shown !== undefined && frames.length < cues && frames.length * stepMs < startMs)
      frames.push(shown)
    // The first cue shows the first frame, even if that is later.
    shown = frame
    if (frames.length === cues) break
  }
  if (shown === undefined || cues === 0) return undefined
  while (frames.length < cues) frames.push(shown)
  return frames
}

/** The key frames of all parts in order, with their time in the session, as exact as a cue's. */
function* eachKeyFrame(
  parts: readonly PlannedPart[],
): Generator<{ frame: FramePosition; startMs: number }> {
  let partSeconds = 0
  for (const [part, { splitPoints, listedSplitPoints, durationSeconds }] of parts.entries()) {
    const { flags, startTicks, timescale } = splitPoints
    for (let splitPoint = 0; splitPoint < listedSplitPoints; splitPoint += 1) {
      if (((flags[splitPoint] ?? 0) & SPLIT_KEY_FRAME) === 0) continue
      const seconds = partSeconds + (startTicks[splitPoint] ?? 0) / timescale
      yield { frame: { part, splitPoint }, startMs: Math.round(seconds * 1000) }
    }
    partSeconds += durationSeconds
  }
}
