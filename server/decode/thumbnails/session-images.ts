// The thumbnail of a session: cached, or rendered from a key frame.
import type { Gate } from '../../base/admission/gate.ts'
import type { KeyFrame } from '../../media/media-index.ts'
import { chooseFrame } from './choose-frame.ts'
import type { Decoder } from './decoder.ts'
import type { CachedSource, CachedThumbnails } from './cached-thumbnails.ts'
import type { ThumbnailRequest } from './thumbnail.ts'

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
