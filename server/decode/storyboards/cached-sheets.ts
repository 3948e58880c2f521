// The cached sheets of storyboards. Of finished recordings, nodes share them.
import { nameArtifact } from '../../storage/artifacts/artifact-store.ts'
import type { LimitedFolder } from '../../storage/artifacts/limited-folder.ts'
import type { SharedArtifacts } from '../../storage/artifacts/shared-artifacts.ts'
import { sniffImageType } from '../thumbnails/image-format.ts'
import type { RenderedSheet } from './sheet-renderer.ts'

/** A sheet in a cache. */
export interface CachedSheet {
  version: string
  /** Nodes that have the recordings have the same version for it. */
  isFinal: boolean
}

export interface CachedSheetsOptions {
  cache: LimitedFolder
  /** The sheets that nodes share. Default none. */
  shared?: SharedArtifacts | undefined
  log?: { warn(details: object, message: string): void } | undefined
}

/** In the name of shared sheets: increment it when their format changes. */
const ARTIFACT_KIND = 'storyboard-1'

/** A failing disk costs time, never images. */
export class CachedSheets {
  readonly #options: CachedSheetsOptions

  constructor(options: CachedSheetsOptions) {
    this.#options = options
  }

  /** The cached JPEG, or that of another node. Rejects only with the signal's reason. */
  async find(sheet: CachedSheet, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const cached = await this.#read(sheet)
    if (cached !== undefined && isJpeg(cached)) return cached
    const { shared } = this.#options
    const found = sheet.isFinal ? await shared?.read(artifactName(sheet), signal) : undefined
    if (found === undefined || !isJpeg(found)) return undefined
    await this.#write(sheet, found)
    return found
  }

  /**
   * The sheet that all nodes return: that of the first one that has added it. It is not lasting
   * while that cannot be known. Rejects only with the signal's reason.
   */
  async add(sheet: CachedSheet, bytes: Uint8Array, signal: AbortSignal): Promise<RenderedSheet> {
    const { shared } = this.#options
    const make = (): Uint8Array => bytes
    const isShared = sheet.isFinal && shared !== undefined
    const found = isShared ? await shared.claim(artifactName(sheet), make, signal) : bytes
    if (found === undefined || !isJpeg(found)) {
      // Replaces a corrupt one.
      shared?.share(artifactName(sheet), { sizeBytes: bytes.length, make })
      return { bytes, isLasting: false }
    }
    await this.#write(sheet, found)
    return { bytes: found, isLasting: true }
  }

  async #read(sheet: CachedSheet): Promise<Uint8Array | undefined> {
    try {
      const cached = await this.#options.cache.read(cacheName(sheet))
      return cached?.bytes
    } catch (error) {
      this.#options.log?.warn({ err: error }, 'a cached storyboard cannot be read')
      return undefined
    }
  }

  async #write(sheet: CachedSheet, bytes: Uint8Array): Promise<void> {
    try {
      await this.#options.cache.write(cacheName(sheet), bytes, { sync: sheet.isFinal })
    } catch (error) {
      this.#options.log?.warn({ err: error }, 'a storyboard cannot be cached')
    }
  }
}

function isJpeg(bytes: Uint8Array): boolean {
  return sniffImageType(bytes) === 'image/jpeg'
}

function cacheName({ version }: CachedSheet): string {
  return `${version.slice(0, 2)}/${version}.jpg`
}

function artifactName({ version }: CachedSheet): string {
  return nameArtifact(ARTIFACT_KIND, [version], 'jpg')
}
