// Chooses the key frame that represents a session: at about a tenth of it, and not nearly black if
// avoidable.
import type { JobResult } from '../child/decoder-process.ts'
import type { RenderedImage } from './render-message.ts'

/** Candidates as fractions of the recording's duration, in order. */
const CANDIDATE_POSITIONS = [0.1, 0.2, 0.3, 0.5, 0.05]
/** A frame is nearly black if its mean luma (0 to 255) and its deviation are below these. */
const DARK_MEAN_LUMA = 24
const FLAT_LUMA_DEVIATION = 12

export type ChosenFrame =
  | { status: 'chosen'; splitPoint: number; image: RenderedImage }
  | { status: 'none' }
  | { status: 'gave up' }

export interface FrameChoice {
  /** The split point chosen before, or their number. */
  splitPoints: number | { count: number }
  /** Whether a nearly black frame counts as none. Default false. */
  mustBeBright?: boolean | undefined
  /** Renders the key frame at a split point; undefined if there is none. */
  render: (splitPoint: number) => Promise<JobResult<RenderedImage> | undefined>
}

/**
 * The first candidate without errors that is not nearly black, else the best one. `none`: no frame
 * can be decoded; `gave up`: the decoder was killed, so that a retry may succeed. Rejections of
 * `render` are passed on.
 */
export async function chooseFrame({
  splitPoints,
  mustBeBright,
  render,
}: FrameChoice): Promise<ChosenFrame> {
  let best: { splitPoint: number; image: RenderedImage } | undefined
  for (const splitPoint of typeof splitPoints === 'number'
    ? [splitPoints]
    : candidateSplitPoints(splitPoints.count)) {
    const result = await render(splitPoint)
    // Stop at the first killed decoder: a hostile recording must not load the machine five times.
    if (result?.status === 'killed' && best === undefined) return { status: 'gave up' }
    if (result?.status === 'killed') break
    if (result?.status !== 'done') continue
    const { value: image } = result
    if (isAcceptable(image)) return { status: 'chosen', splitPoint, image }
    if (best === undefined || isBetter(image, best.image)) best = { splitPoint, image }
  }
  return best === undefined || mustBeBright ? { status: 'none' } : { status: 'chosen', ...best }
}

/** The distinct split points at the candidate positions. */
function candidateSplitPoints(count: number): number[] {
  if (count < 1) return []
  return [...new Set(CANDIDATE_POSITIONS.map((fraction) => Math.floor(fraction * count)))]
}

function isAcceptable(image: RenderedImage): boolean {
  const isNearlyBlack = image.meanLuma < DARK_MEAN_LUMA && image.lumaDeviation < FLAT_LUMA_DEVIATION
  return !image.hasErrors && !isNearlyBlack
}

/** Prefers frames without errors, then brighter ones. */
function isBetter(image: RenderedImage, other: RenderedImage): boolean {
  if (image.hasErrors !== other.hasErrors) return other.hasErrors
  return image.meanLuma > other.meanLuma
}
