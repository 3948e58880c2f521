// Sidecar images in memory: one buffer per version of a file, shared by all requests.
import { LRUCache } from 'lru-cache'
import type { Gate, Release } from '../admission/gate.ts'
import { SharedWork } from '../admission/shared-work.ts'
import { MAX_SIDECAR_BYTES, readSidecar } from './sidecar.ts'
import type { Sidecar } from './sidecar.ts'
import { imageVersion } from './thumbnail.ts'
import type { Thumbnail } from './thumbnail.ts'

/** Images that no request needs now, most of them avatars. */
const MAX_IDLE_BYTES = 24 * 1024 * 1024

type SidecarImage = Omit<Thumbnail, 'release'>

interface Entry {
  image: SidecarImage
  requests: number
  release: Release
}

export class SidecarImages {
  readonly #gate: Gate
  /** Images that requests are sending, by version of the file. */
  readonly #used = new Map<string, Entry>()
  readonly #loading = new SharedWork<Entry | undefined>()
  readonly #idle = new LRUCache<string, SidecarImage>({
    maxSize: MAX_IDLE_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length,
  })

  /** @param gate admits the bytes of the images that requests are sending */
  constructor(gate: Gate) {
    this.#gate = gate
  }

  /**
   * The image, until the caller releases it; undefined if it is too large or not an image.
   *
   * @throws AppError `busy` if too many images are being sent; what the sidecar throws
   */
  async lease(sidecar: Sidecar, signal: AbortSignal): Promise<Thumbnail | undefined> {
    const { key, sizeBytes } = sidecar
    if (sizeBytes > MAX_SIDECAR_BYTES) return undefined
    const used = this.#used.get(key)
    const entry =
      used ?? (await this.#loading.join(key, signal, async (all) => this.#load(sidecar, all)))
    return entry && this.#lend(key, entry)
  }

  async #load(sidecar: Sidecar, signal: AbortSignal): Promise<Entry | undefined> {
    const release = await this.#gate.enter(signal, sidecar.sizeBytes)
    try {
      const image = this.#idle.get(sidecar.key) ?? (await readImage(sidecar))
      signal.throwIfAborted()
      if (image !== undefined) return { image, requests: 0, release }
    } catch (error) {
      release()
      throw error
    }
    release()
    return undefined
  }

  #lend(key: string, entry: Entry): Thumbnail {
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

async function readImage(sidecar: Sidecar): Promise<SidecarImage | undefined> {
  const image = await readSidecar(sidecar)
  return image && { ...image, version: imageVersion(image.bytes) }
}
