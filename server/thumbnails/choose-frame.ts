// Which key frame stands for a session: about a tenth in, and not nearly black where any other will do.
import type { RenderResult } from './decoder.ts'
import type { RenderedImage } from './render-message.ts'

/** Where to look, as parts of the recording's length, in order. */
const PLACES = [0.1, 0.2, 0.3, 0.5, 0.05]
/** A picture is nearly black where its mean luma (0 to 255) is below this and it hardly varies. */
const DARK_MEAN_LUMA = 24
const FLAT_LUMA_DEVIATION = 12

export type ChosenFrame =
  | { status: 'chosen'; splitPoint: number; image: RenderedImage }
  | { status: 'none' }
  | { status: 'gave up' }

export interface FrameChoice {
  /** The cut that was chosen before, or the number of cuts to choose among. */
  splitPoints: number | { count: number }
  /** Renders the key frame at a cut; undefined where there is none. */
  render: (splitPoint: number) => Promise<RenderResult | undefined>
}

/**
 * The first candidate that is whole and not nearly black, else the best of them. `none`: no picture can be decoded;
 * `gave up`: the decoder was killed on the way, so that another try may do better. What `render` rejects with is passed on.
 */
export async function chooseFrame({ splitPoints, render }: FrameChoice): Promise<ChosenFrame> {
  let best: { splitPoint: number; image: RenderedImage } | undefined
  for (const splitPoint of typeof splitPoints === 'number'
    ? [splitPoints]
    : candidateSplitPoints(splitPoints.count)) {
    const answer = await render(splitPoint)
    // One killed decoder is enough: the recording gets no four more chances to burden the machine.
    if (answer?.status === 'killed' && best === undefined) return { status: 'gave up' }
    if (answer?.status === 'killed') break
    if (answer?.status !== 'rendered') continue
    const { image } = answer
    if (isGood(image)) return { status: 'chosen', splitPoint, image }
    if (best === undefined || isBetter(image, best.image)) best = { splitPoint, image }
  }
  return best === undefined ? { status: 'none' } : { status: 'chosen', ...best }
}

/** Distinct cuts at the places to look. */
function candidateSplitPoints(count: number): number[] {
  if (count < 1) return []
  return [...new Set(PLACES.map((place) => Math.floor(place * count)))]
}

function isGood(image: RenderedImage): boolean {
  const nearlyBlack = image.meanLuma < DARK_MEAN_LUMA && image.lumaDeviation < FLAT_LUMA_DEVIATION
  return !image.damaged && !nearlyBlack
}

/** Whole before damaged, then brighter before darker. */
function isBetter(image: RenderedImage, other: RenderedImage): boolean {
  if (image.damaged !== other.damaged) return other.damaged
  return image.meanLuma > other.meanLuma
}
