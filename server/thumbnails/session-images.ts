// A session's own picture: kept, or made now from a key frame; one making at a time for each, however many ask.
import type { KeyFrame } from '../media/media-index.ts'
import { chooseFrame } from './choose-frame.ts'
import type { Decoder } from './decoder.ts'
import type { ImageFormat } from './image-format.ts'
import { createJobQueue } from '../decoder-child/job-queue.ts'
import type { JobQueue } from '../decoder-child/job-queue.ts'
import type { CachedThumbnails } from './cached-thumbnails.ts'

/** Where a session's picture can be made from. */
export interface ImageSource {
  /** Identity of the recording's content: two sources with one key have one picture. */
  key: string
  /** Number of cuts in the recording's index. */
  splitPoints: number
  /** The key frame at a cut; undefined where there is none. */
  readKeyFrame(splitPoint: number, signal: AbortSignal): Promise<KeyFrame | undefined>
}

export interface SessionImagesOptions {
  decoder: Decoder
  kept: CachedThumbnails
  /** Sessions whose picture may wait to be made. */
  maxWaiting: number
}

/** Sessions worked on at once; more would only hold more key frames in memory while one is decoded. */
const CONCURRENCY = 1

export class SessionImages {
  readonly #decoder: Decoder
  readonly #kept: CachedThumbnails
  readonly #queue: JobQueue
  readonly #closing = new AbortController()
  readonly #flights = new Map<string, Promise<Uint8Array | undefined>>()

  constructor({ decoder, kept, maxWaiting }: SessionImagesOptions) {
    this.#decoder = decoder
    this.#kept = kept
    this.#queue = createJobQueue({
      concurrency: CONCURRENCY,
      waiting: maxWaiting,
      busyMessage: 'Too many pictures are being made at once; try again soon',
    })
  }

  /** The encoded picture; undefined where there can be none. Rejects with AppError `busy` where too many wait. */
  find(source: ImageSource, format: ImageFormat): Promise<Uint8Array | undefined> {
    const flightKey = `${format} ${source.key}`
    const underWay = this.#flights.get(flightKey)
    if (underWay !== undefined) return underWay
    const flight = this.#findOrMake(source, format).finally(() => this.#flights.delete(flightKey))
    this.#flights.set(flightKey, flight)
    return flight
  }

  close(): void {
    this.#closing.abort(new Error('The thumbnails are closed'))
  }

  async #findOrMake(source: ImageSource, format: ImageFormat): Promise<Uint8Array | undefined> {
    const image = await this.#kept.findImage(source.key, format)
    if (image !== undefined) return image
    const choice = await this.#kept.findChoice(source.key)
    if (choice !== undefined && choice.status !== 'splitPoint') return undefined
    return this.#queue.run(() => this.#make(source, format), this.#closing.signal)
  }

  async #make(source: ImageSource, format: ImageFormat): Promise<Uint8Array | undefined> {
    const { signal } = this.#closing
    // Asked again in its turn: another format may have chosen the key frame while this one waited.
    const choice = await this.#kept.findChoice(source.key)
    const known = choice?.status === 'splitPoint' && choice.splitPoint < source.splitPoints
    const chosen = await chooseFrame({
      splitPoints: known ? choice.splitPoint : { count: source.splitPoints },
      render: async (splitPoint) => {
        const frame = await source.readKeyFrame(splitPoint, signal)
        return frame && this.#decoder.render({ frame, format }, signal)
      },
    })
    if (chosen.status !== 'chosen') {
      await this.#kept.keepChoice(source.key, chosen)
      return undefined
    }
    await this.#kept.cacheImage(source.key, format, chosen.image.bytes)
    if (!known)
      await this.#kept.keepChoice(source.key, {
        status: 'splitPoint',
        splitPoint: chosen.splitPoint,
      })
    return chosen.image.bytes
  }
}
