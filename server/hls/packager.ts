// Opens a session's recording for HLS: the file as it is now, with the presentation that belongs to just these bytes.
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../shared/paths.ts'
import { AppError } from '../errors.ts'
import type { IndexStore } from '../media/index-store.ts'
import type { MediaReaders } from '../media/readers.ts'
import type { OpenFile, Storage } from '../storage/storage.ts'
import type { HlsSettings } from './encryption.ts'
import { createSegmentBodies, Presentation } from './presentation.ts'

/** A visitor waits this long for a recording that was never indexed, then is asked to come again. */
const INDEX_WAIT_MS = 8000
const MAX_PRESENTATIONS = 64

/** A recording and where it lies. */
export interface RecordingReference {
  session: SessionReference
  path: string
}

/** An open recording; the caller closes the file. */
export interface OpenRecording {
  file: OpenFile
  presentation: Presentation
}

export interface PackagerOptions {
  storage: Storage
  indexes: IndexStore
  readers: MediaReaders
  settings: HlsSettings
  /** Ends waiting and indexing when the program ends. */
  signal: AbortSignal
}

export class Packager {
  readonly #options: PackagerOptions
  readonly #presentations = new LRUCache<string, Presentation>({ max: MAX_PRESENTATIONS })
  readonly #bodies = createSegmentBodies()

  constructor(options: PackagerOptions) {
    this.#options = options
  }

  /**
   * @throws AppError `not_found` (no file), `unplayable` (with its reason), `gone` (replaced meanwhile),
   *   `busy` (not indexed yet; indexing goes on)
   */
  async open({ session, path }: RecordingReference): Promise<OpenRecording> {
    const file = await this.#options.storage.open(path)
    try {
      return { file, presentation: await this.#present({ session, path }, file) }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #present({ session, path }: RecordingReference, file: OpenFile): Promise<Presentation> {
    const { indexes, readers, settings, signal } = this.#options
    const { sizeBytes, modifiedMs } = file.stat
    const key = JSON.stringify([session, path, sizeBytes, modifiedMs])
    const known = this.#presentations.get(key)
    if (known !== undefined) return known
    const inspection = await withTimeLimit(indexes.find(path, file.stat, signal))
    if (inspection.status === 'unplayable') throw new AppError('unplayable', inspection.reason)
    const { identity, index } = inspection
    const recording = { session, identity, index, reader: readers.forIndex(index) }
    const presentation = new Presentation(recording, settings, this.#bodies)
    this.#presentations.set(key, presentation)
    return presentation
  }
}

async function withTimeLimit<Value>(promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new AppError('busy', 'the recording is being indexed; try again in a moment'))
    }, INDEX_WAIT_MS)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
