// A cache of rendered files on disk. Nodes share those that they all render alike.
import { ArtifactCache } from './artifact-cache.ts'
import type { ArtifactCacheOptions, CachedArtifact } from './artifact-cache.ts'
import { nameArtifact } from './artifact-store.ts'
import type { LimitedFolder } from './limited-folder.ts'

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

export interface ClaimedCacheOptions extends Omit<ArtifactCacheOptions, 'folder'> {
  cache: LimitedFolder
  /** In the name of shared files: what they are, and the version of their format. */
  kind: string
  extension: string
  /** Whether cached bytes are intact. */
  isIntact: (bytes: Uint8Array) => boolean
}

export class ClaimedCache {
  readonly #options: ClaimedCacheOptions
  readonly #files: ArtifactCache

  constructor(options: ClaimedCacheOptions) {
    this.#options = options
    this.#files = new ArtifactCache({ ...options, folder: options.cache })
  }

  /** The cached file, or that of another node. Rejects only with the signal's reason. */
  async find(file: CachedFile, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const { isIntact } = this.#options
    const intact = (bytes: Uint8Array) => (isIntact(bytes) ? bytes : undefined)
    return this.#files.find(this.#artifactOf(file), intact, signal)
  }

  /**
   * The file that all nodes return: that of the first one that has added it. It is not lasting
   * while that cannot be known. Rejects only with the signal's reason.
   */
  async add(file: CachedFile, bytes: Uint8Array, signal: AbortSignal): Promise<ClaimedBytes> {
    const artifact = this.#artifactOf(file)
    const found = await this.#files.claim(artifact, bytes, signal)
    if (found === undefined || !this.#options.isIntact(found)) {
      // Replaces a corrupt one.
      this.#files.share(artifact, bytes)
      return { bytes, isLasting: false }
    }
    await this.#files.write(artifact, found)
    return { bytes: found, isLasting: true }
  }

  #artifactOf({ version, isFinal }: CachedFile): CachedArtifact {
    const { kind, extension } = this.#options
    return {
      name: `${version.slice(0, 2)}/${version}.${extension}`,
      sharedName: isFinal ? nameArtifact(kind, [version], extension) : undefined,
      sync: isFinal,
    }
  }
}
