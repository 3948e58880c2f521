// The thumbnail of a session: cached, or rendered from the key frame that represents it: at about a
// tenth of it, and not nearly black if avoidable.
import type { Gate } from '../../base/admission/gate.ts'
import type { KeyFrame } from '../../media/media-index.ts'
import type { Decoder } from './decoder.ts'
import type { CachedSource, CachedThumbnails } from './cached-thumbnails.ts'
import type { ThumbnailRequest } from './thumbnail.ts'
import type { JobResult } from '../child/decoder-process.ts'
import type { RenderedImage } from './render-message.ts'

/** Source of a session's thumbnail. Sources with the same key share one image. */
export interface ImageSource extends CachedSource {
  /** Number of split points in the recording's index. */
  splitPoints: number
  /** Whether a nearly black frame counts as none. Default false. */
  mustBeBright?: boolean
  /** The key frame at a split point; undefined if there is none. */
  readKeyFrame(splitPoint: number, signal: AbortSignal): Promise<KeyFrame | undefined>
}

export interface SessionImagesOptions {
  /** Undefined: only cached images. */
  decoder: Decoder | undefined
  cached: CachedThumbnails
  /** Admits the sessions whose thumbnail is rendered. */
  gate: Gate
}

export class SessionImages {
  readonly #decoder: Decoder | undefined
  readonly #cached: CachedThumbnails
  readonly #gate: Gate
  readonly #closing = new AbortController()

  constructor({ decoder, cached, gate }: SessionImagesOptions) {
    this.#decoder = decoder
    this.#cached = cached
    this.#gate = gate
  }

  /**
   * The encoded image; undefined if there is none. Rejects with AppError `busy` if too many
   * sessions wait, and with the signal's reason.
   */
  async find(
    source: ImageSource,
    { format, signal }: ThumbnailRequest,
  ): Promise<Uint8Array | undefined> {
    const request = { format, signal: AbortSignal.any([signal, this.#closing.signal]) }
    const image = await this.#cached.findImage(source, request.format, request.signal)
    if (image !== undefined) return image
    const choice = await this.#cached.findChoice(source)
    if (choice !== undefined && choice.status !== 'splitPoint') return undefined
    const decoder = this.#decoder
    if (decoder === undefined) return undefined
    return this.#gate.run(() => this.#create(source, request, decoder), request.signal)
  }

  close(): void {
    this.#closing.abort(new Error('The thumbnails are closed'))
  }

  async #create(
    source: ImageSource,
    { format, signal }: ThumbnailRequest,
    decoder: Decoder,
  ): Promise<Uint8Array | undefined> {
    // Read again: a request for another format may have chosen the key frame in the meantime.
    const choice =
      (await this.#cached.findChoice(source)) ??
      (await this.#cached.findSharedChoice(source, signal))
    const known = choice?.status === 'splitPoint' && choice.splitPoint < source.splitPoints
    const chosen = await chooseFrame({
      splitPoints: known ? choice.splitPoint : { count: source.splitPoints },
      mustBeBright: source.mustBeBright,
      render: async (splitPoint) => {
        const frame = await source.readKeyFrame(splitPoint, signal)
        return frame && decoder.render({ frame, format }, signal)
      },
    })
    if (chosen.status !== 'chosen') {
      await this.#cached.cacheChoice(source, chosen)
      return undefined
    }
    await this.#cached.cacheImage(source, format, chosen.image.bytes)
    if (!known)
      await this.#cached.cacheChoice(source, {
        status: 'splitPoint',
        splitPoint: chosen.splitPoint,
      })
    return chosen.image.bytes
  }
}

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
async function chooseFrame({
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
