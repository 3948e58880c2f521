// A cache of rendered files on disk. Nodes share those that they all render alike.
import { nameArtifact } from './artifact-store.ts'
import type { LimitedFolder } from './limited-folder.ts'
import type { SharedArtifacts } from './shared-artifacts.ts'

/** A rendered file. */
export interface CachedFile {
  /** Identifies its content; begins with two hexadecimal digits of a hash. */
  version: string
  /** Nodes that have the recordings have the same version for it. */
  isFinal: boolean
}

/** What is served. */
export interface ClaimedBytes {
  bytes: Uint8Array
  /** False: another node, or this one later, may have other bytes for this version. */
  isLasting: boolean
}

export interface ClaimedCacheOptions {
  cache: LimitedFolder
  /** The files that nodes share. Default none. */
  shared?: SharedArtifacts | undefined
  log?: { warn(details: object, message: string): void } | undefined
  /** In the name of shared files: what they are, and the version of their format. */
  kind: string
  extension: string
  /** Whether cached bytes are intact. */
  isIntact: (bytes: Uint8Array) => boolean
}

/** A failing disk costs time, never files. */
export class ClaimedCache {
  readonly #options: ClaimedCacheOptions

  constructor(options: ClaimedCacheOptions) {
    this.#options = options
  }

  /** The cached file, or that of another node. Rejects only with the signal's reason. */
  async find(file: CachedFile, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const { shared, isIntact } = this.#options
    const cached = await this.#read(file)
    if (cached !== undefined && isIntact(cached)) return cached
    const found = file.isFinal ? await shared?.read(this.#artifactName(file), signal) : undefined
    if (found === undefined || !isIntact(found)) return undefined
    await this.#write(file, found)
    return found
  }

  /**
   * The file that all nodes return: that of the first one that has added it. It is not lasting
   * while that cannot be known. Rejects only with the signal's reason.
   */
  async add(file: CachedFile, bytes: Uint8Array, signal: AbortSignal): Promise<ClaimedBytes> {
    const { shared, isIntact } = this.#options
    const make = (): Uint8Array => bytes
    const name = this.#artifactName(file)
    const isShared = file.isFinal && shared !== undefined
    const found = isShared ? await shared.claim(name, make, signal) : bytes
    if (found === undefined || !isIntact(found)) {
      // Replaces a corrupt one.
      shared?.share(name, { sizeBytes: bytes.length, make })
      return { bytes, isLasting: false }
    }
    await this.#write(file, found)
    return { bytes: found, isLasting: true }
  }

  async #read(file: CachedFile): Promise<Uint8Array | undefined> {
    const { cache, kind, log } = this.#options
    try {
      const cached = await cache.read(this.#cacheName(file))
      return cached?.bytes
    } catch (error) {
      log?.warn({ err: error, kind }, 'a cached file cannot be read')
      return undefined
    }
  }

  async #write(file: CachedFile, bytes: Uint8Array): Promise<void> {
    const { cache, kind, log } = this.#options
    try {
      await cache.write(this.#cacheName(file), bytes, { sync: file.isFinal })
    } catch (error) {
      log?.warn({ err: error, kind }, 'a file cannot be cached')
    }
  }

  #cacheName({ version }: CachedFile): string {
    return `${version.slice(0, 2)}/${version}.${this.#options.extension}`
  }

  #artifactName({ version }: CachedFile): string {
    const { kind, extension } = this.#options
    return nameArtifact(kind, [version], extension)
  }
}
