// Images in memory: one buffer per image, shared by all requests that send it.
import { LRUCache } from 'lru-cache'
import type { Gate, Release } from '../../base/admission/gate.ts'
import { SharedWork } from '../../base/admission/shared-work.ts'

interface Buffered {
  bytes: Uint8Array
}

/** An image to buffer. */
export interface ImageLoader<Image> {
  /** Changes with the image. */
  key: string
  /** Its size, if it is known before it is read. */
  sizeBytes?: number
  /** Undefined if there is no image. The signal aborts when all requests are abandoned. */
  read(this: void, signal: AbortSignal): Promise<Image | undefined>
}

/** An image that a request sends. The caller releases it. */
export type Leased<Image> = Image & {
  /** Call when nothing sends the bytes any more. */
  release: (this: void) => void
}

interface Entry<Image> {
  image: Image
  requests: number
  release: Release
}

export interface ImageBuffersOptions {
  /** Admits the bytes of the images that requests send. */
  gate: Gate
  /** Images that no request sends now. */
  maxIdleBytes: number
  /** How long they are used. Default unlimited. */
  idleMs?: number
}

export class ImageBuffers<Image extends Buffered> {
  readonly #gate: Gate
  /** Images that requests send. */
  readonly #used = new Map<string, Entry<Image>>()
  readonly #loading = new SharedWork<Entry<Image> | undefined>()
  readonly #idle: LRUCache<string, Image>

  constructor({ gate, maxIdleBytes, idleMs = 0 }: ImageBuffersOptions) {
    this.#gate = gate
    this.#idle = new LRUCache({
      maxSize: maxIdleBytes,
      sizeCalculation: ({ bytes }) => Math.max(1, bytes.length),
      ttl: idleMs,
    })
  }

  /**
   * The image, until the caller releases it; undefined if there is none.
   *
   * @throws AppError `busy` if too many images are being sent; what the loader throws
   */
  async lease(loader: ImageLoader<Image>, signal: AbortSignal): Promise<Leased<Image> | undefined> {
    const { key } = loader
    const used = this.#used.get(key)
    const entry =
      used ?? (await this.#loading.join(key, signal, async (all) => this.#load(loader, all)))
    return entry && this.#lend(key, entry)
  }

  async #load(
    { key, sizeBytes, read }: ImageLoader<Image>,
    signal: AbortSignal,
  ): Promise<Entry<Image> | undefined> {
    const idle = this.#idle.get(key)
    const knownBytes = idle?.bytes.length ?? sizeBytes
    let release = knownBytes === undefined ? undefined : await this.#gate.enter(signal, knownBytes)
    try {
      const image = idle ?? (await read(signal))
      signal.throwIfAborted()
      if (image !== undefined) {
        release ??= await this.#gate.enter(signal, image.bytes.length)
        return { image, requests: 0, release }
      }
    } catch (error) {
      release?.()
      throw error
    }
    release?.()
    return undefined
  }

  #lend(key: string, entry: Entry<Image>): Leased<Image> {
    entry.requests += 1
    this.#used.set(key, entry)
    let isReleased = false
    const release = (): void => {
      if (isReleased) return
      isReleased = true
      entry.requests -= 1
      if (entry.requests > 0) return
      this.#used.delete(key)
      this.#idle.set(key, entry.image)
      entry.release()
    }
    return { ...entry.image, release }
  }
}
