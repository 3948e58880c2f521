// A cache of derived files in a folder of this machine, before the artifacts that nodes share.
import { nameArtifact } from './artifact-store.ts'
import type { LimitedFolder } from './limited-folder.ts'
import type { SharedArtifacts } from './shared-artifacts.ts'

export interface ArtifactCacheOptions {
  folder: LimitedFolder
  /** What nodes share. Default nothing. */
  shared?: SharedArtifacts | undefined
  log?: { warn(details: object, message: string): void } | undefined
  /** What the files are, for the log. */
  kind: string
}

export interface CachedArtifact {
  /** Of the file in the folder. */
  name: string
  /** Of the artifact; undefined if the file is of this machine alone. */
  sharedName: string | undefined
  /** Whether a write waits until the disk has the file. Default false. */
  sync?: boolean
}

/** A file that all nodes make alike, in a folder of its kind; the rest as in `nameArtifact`. */
export function cachedArtifact(
  kind: string,
  facts: readonly string[],
  extension: string,
): CachedArtifact {
  const sharedName = nameArtifact(kind, facts, extension)
  return { name: sharedName.slice(kind.length + 1), sharedName }
}

/** A failing disk costs time, never files. */
export class ArtifactCache {
  readonly #options: ArtifactCacheOptions

  constructor(options: ArtifactCacheOptions) {
    this.#options = options
  }

  /**
   * The file of this machine, or that of another node. Rejects only with the signal's reason.
   *
   * @param parse returns undefined for a corrupt file
   */
  async find<Value>(
    file: CachedArtifact,
    parse: (bytes: Uint8Array) => Value | undefined,
    signal: AbortSignal,
  ): Promise<Value | undefined> {
    const own = await this.readOwn(file)
    const value = own && parse(own.bytes)
    if (value !== undefined) return value
    const bytes = await this.readShared(file, signal)
    const found = bytes && parse(bytes)
    if (bytes !== undefined && found !== undefined) await this.write(file, bytes)
    return found
  }

  /** The file of this machine. Never rejects. */
  async readOwn({ name }: CachedArtifact): ReturnType<LimitedFolder['read']> {
    const { folder, kind, log } = this.#options
    try {
      return await folder.read(name)
    } catch (error) {
      log?.warn({ err: error, kind }, 'a cached file cannot be read')
      return undefined
    }
  }

  /** The file of another node. Rejects only with the signal's reason. */
  async readShared(
    { sharedName }: CachedArtifact,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    return sharedName === undefined ? undefined : this.#options.shared?.read(sharedName, signal)
  }

  /** Stores the file on this machine, and shares it in the background. Never rejects. */
  async add(file: CachedArtifact, bytes: Uint8Array): Promise<void> {
    await this.write(file, bytes)
    this.share(file, bytes)
  }

  /** Stores the file on this machine. Never rejects. */
  async write({ name, sync = false }: CachedArtifact, bytes: Uint8Array): Promise<void> {
    const { folder, kind, log } = this.#options
    try {
      await folder.write(name, bytes, { sync })
    } catch (error) {
      log?.warn({ err: error, kind }, 'a file cannot be cached')
    }
  }

  /** Shares the file in the background. */
  share({ sharedName }: CachedArtifact, bytes: Uint8Array): void {
    if (sharedName === undefined) return
    this.#options.shared?.share(sharedName, { sizeBytes: bytes.length, make: () => bytes })
  }

  /**
   * The file that all nodes have: that of the first one. Undefined while that cannot be known.
   * Rejects only with the signal's reason.
   */
  async claim(
    { sharedName }: CachedArtifact,
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const { shared } = this.#options
    if (shared === undefined || sharedName === undefined) return bytes
    return shared.claim(sharedName, () => bytes, signal)
  }
}
