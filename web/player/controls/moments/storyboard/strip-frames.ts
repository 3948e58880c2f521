// Which frames of a storyboard a strip shows. Pure.
import type { StoryboardFrame } from './parse-storyboard.ts'

/** Height of the strip in CSS pixels. */
export const STRIP_HEIGHT = 64
/** The widest page. Frames are cropped on narrower ones. */
const MAX_WIDTH = 1440
/** Of very tall and very wide videos. */
const MIN_CELLS = 6
const MAX_CELLS = 40

/** The frame at a position; undefined where the storyboard has none. `frames` are in order. */
export function frameAt(
  frames: readonly StoryboardFrame[],
  seconds: number,
): StoryboardFrame | undefined {
  const found = frames.findLast(({ startSeconds }) => startSeconds <= seconds)
  return found && seconds < found.endSeconds ? found : undefined
}

/**
 * The frames of cells of equal width across the session, in order: as many as fill the widest page.
 * Undefined where the storyboard has none yet.
 */
export function cellFrames(
  frames: readonly StoryboardFrame[],
  durationSeconds: number,
): (StoryboardFrame | undefined)[] {
  const [first] = frames
  if (!first || durationSeconds <= 0) return []
  const shown = Math.ceil((MAX_WIDTH / STRIP_HEIGHT) * (first.height / first.width))
  const count = Math.min(Math.max(shown, MIN_CELLS), MAX_CELLS)
  return Array.from({ length: count }, (_, at) =>
    frameAt(frames, ((at + 0.5) / count) * durationSeconds),
  )
}
