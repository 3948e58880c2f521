// A session's own picture: kept, or made now from a key frame; one making at a time for each, however many ask.
import type { KeyFrame } from '../media/media-index.ts'
import { chooseFrame } from './choose-frame.ts'
import type { Decoder } from './decoder.ts'
import type { ImageFormat } from './image-format.ts'
import { createJobQueue } from '../decoder-child/job-queue.ts'
import type { JobQueue } from '../decoder-child/job-queue.ts'
import type { KeptThumbnails } from './kept-thumbnails.ts'

/** Where a session's picture can be made from. */
export interface PictureSource {
  /** Identity of the recording's content: two sources with one key have one picture. */
  key: string
  /** Number of cuts in the recording's index. */
  cuts: number
  /** The key frame at a cut; undefined where there is none. */
  readKeyFrame(cut: number, signal: AbortSignal): Promise<KeyFrame | undefined>
}

export interface SessionPicturesOptions {
  decoder: Decoder
  kept: KeptThumbnails
  /** Sessions whose picture may wait to be made. */
  maxWaiting: number
}

/** Sessions worked on at once; more would only hold more key frames in memory while one is decoded. */
const CONCURRENCY = 1

export class SessionPictures {
  readonly #decoder: Decoder
  readonly #kept: KeptThumbnails
  readonly #queue: JobQueue
  readonly #closing = new AbortController()
  readonly #flights = new Map<string, Promise<Uint8Array | undefined>>()

  constructor({ decoder, kept, maxWaiting }: SessionPicturesOptions) {
    this.#decoder = decoder
    this.#kept = kept
    this.#queue = createJobQueue({
      concurrency: CONCURRENCY,
      waiting: maxWaiting,
      busyMessage: 'Too many pictures are being made at once; try again soon',
    })
  }

  /** The encoded picture; undefined where there can be none. Rejects with AppError `busy` where too many wait. */
  find(source: PictureSource, format: ImageFormat): Promise<Uint8Array | undefined> {
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

  async #findOrMake(source: PictureSource, format: ImageFormat): Promise<Uint8Array | undefined> {
    const picture = await this.#kept.findPicture(source.key, format)
    if (picture !== undefined) return picture
    const choice = await this.#kept.findChoice(source.key)
    if (choice !== undefined && choice.status !== 'cut') return undefined
    return this.#queue.run(() => this.#make(source, format), this.#closing.signal)
  }

  async #make(source: PictureSource, format: ImageFormat): Promise<Uint8Array | undefined> {
    const { signal } = this.#closing
    // Asked again in its turn: another format may have chosen the key frame while this one waited.
    const choice = await this.#kept.findChoice(source.key)
    const known = choice?.status === 'cut' && choice.cut < source.cuts
    const chosen = await chooseFrame({
      cuts: known ? choice.cut : { count: source.cuts },
      render: async (cut) => {
        const frame = await source.readKeyFrame(cut, signal)
        return frame && this.#decoder.render({ frame, format }, signal)
      },
    })
    if (chosen.status !== 'chosen') {
      await this.#kept.keepChoice(source.key, chosen)
      return undefined
    }
    await this.#kept.keepPicture(source.key, format, chosen.image.bytes)
    if (!known) await this.#kept.keepChoice(source.key, { status: 'cut', cut: chosen.cut })
    return chosen.image.bytes
  }
}
