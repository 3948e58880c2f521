// The thumbnail of a session: cached, or rendered from a key frame, once for concurrent requests.
import type { KeyFrame } from '../media/media-index.ts'
import { chooseFrame } from './choose-frame.ts'
import type { Decoder } from './decoder.ts'
import type { ImageFormat } from './image-format.ts'
import { createJobQueue } from '../decoder-child/job-queue.ts'
import type { JobQueue } from '../decoder-child/job-queue.ts'
import type { CachedThumbnails } from './cached-thumbnails.ts'

/** Source of a session's thumbnail. */
export interface ImageSource {
  /** Identity of the recording's content: sources with the same key share one image. */
  key: string
  /** Number of split points in the recording's index. */
  splitPoints: number
  /** The key frame at a split point; undefined if there is none. */
  readKeyFrame(splitPoint: number, signal: AbortSignal): Promise<KeyFrame | undefined>
}

export interface SessionImagesOptions {
  decoder: Decoder
  cached: CachedThumbnails
  /** Number of sessions whose thumbnail may wait to be rendered. */
  maxWaiting: number
}

/** Sessions rendered at once; more would only hold more key frames in memory. */
const CONCURRENCY = 1

export class SessionImages {
  readonly #decoder: Decoder
  readonly #cached: CachedThumbnails
  readonly #queue: JobQueue
  readonly #closing = new AbortController()
  readonly #inFlight = new Map<string, Promise<Uint8Array | undefined>>()

  constructor({ decoder, cached, maxWaiting }: SessionImagesOptions) {
    this.#decoder = decoder
    this.#cached = cached
    this.#queue = createJobQueue({
      concurrency: CONCURRENCY,
      waiting: maxWaiting,
      busyMessage: 'Too many thumbnails are being rendered; try again soon',
    })
  }

  /**
   * The encoded image; undefined if there is none. Rejects with AppError `busy` if too many
   * sessions wait.
   */
  find(source: ImageSource, format: ImageFormat): Promise<Uint8Array | undefined> {
    const inFlightKey = `${format} ${source.key}`
    const inFlight = this.#inFlight.get(inFlightKey)
    if (inFlight !== undefined) return inFlight
    const flight = this.#findOrCreate(source, format).finally(() =>
      this.#inFlight.delete(inFlightKey),
    )
    this.#inFlight.set(inFlightKey, flight)
    return flight
  }

  close(): void {
    this.#closing.abort(new Error('The thumbnails are closed'))
  }

  async #findOrCreate(source: ImageSource, format: ImageFormat): Promise<Uint8Array | undefined> {
    const image = await this.#cached.findImage(source.key, format)
    if (image !== undefined) return image
    const choice = await this.#cached.findChoice(source.key)
    if (choice !== undefined && choice.status !== 'splitPoint') return undefined
    return this.#queue.run(() => this.#create(source, format), this.#closing.signal)
  }

  async #create(source: ImageSource, format: ImageFormat): Promise<Uint8Array | undefined> {
    const { signal } = this.#closing
    // Read again: a request for another format may have chosen the key frame in the meantime.
    const choice = await this.#cached.findChoice(source.key)
    const known = choice?.status === 'splitPoint' && choice.splitPoint < source.splitPoints
    const chosen = await chooseFrame({
      splitPoints: known ? choice.splitPoint : { count: source.splitPoints },
      render: async (splitPoint) => {
        const frame = await source.readKeyFrame(splitPoint, signal)
        return frame && this.#decoder.render({ frame, format }, signal)
      },
    })
    if (chosen.status !== 'chosen') {
      await this.#cached.cacheChoice(source.key, chosen)
      return undefined
    }
    await this.#cached.cacheImage(source.key, format, chosen.image.bytes)
    if (!known)
      await this.#cached.cacheChoice(source.key, {
        status: 'splitPoint',
        splitPoint: chosen.splitPoint,
      })
    return chosen.image.bytes
  }
}
