// Recordings that match no session in the layout: a wrong layout finds nothing, and nothing fails.
import { isAppError } from '../../../base/errors.ts'
import type { Storage } from '../../../storage/recordings/storage.ts'
import type { RecordingPath } from '../names/fitting-layout.ts'
import { joinPath } from '../../../storage/recordings/library-path.ts'
import { parseRecordingName } from '../names/recording-name.ts'

/** What one walk of the whole library met. */
export interface UnmatchedRecordings {
  count: number
  /** Folders were left out, or could not be read: there may be more. */
  isPartial: boolean
  /** The first ones, at most `MAX_SAMPLE`. */
  sample: readonly RecordingPath[]
}

/** Limits the memory for paths, and the cost of matching them to other layouts. */
const MAX_SAMPLE = 50
/** Listed of the folders that the layout does not enter. An object store charges for each. */
const MAX_FOLDERS = 100

/** An entry of a folder. */
interface Entry {
  name: string
  kind: 'file' | 'folder'
}

/** Collects during a walk what the layout leaves out, then lists folders that it does not enter. */
export class UnmatchedCollector {
  #count = 0
  #isPartial = false
  readonly #sample: RecordingPath[] = []
  readonly #folders: string[] = []

  /** Takes the entries of a folder that are no sessions and contain none. */
  meet(folder: string, entries: readonly Entry[]): void {
    const files = entries.filter(({ kind }) => kind === 'file')
    // The segments next to a playlist are one recording.
    if (folder !== '' && files.some(({ name }) => name.toLowerCase().endsWith('.m3u8'))) {
      this.#add({ path: folder, kind: 'folder' })
    } else {
      for (const { name } of files) {
        if (parseRecordingName(name) === undefined) continue
        this.#add({ path: joinPath(folder, name), kind: 'file' })
      }
    }
    for (const { name, kind } of entries) {
      if (kind !== 'folder') continue
      if (this.#folders.length < MAX_FOLDERS) this.#folders.push(joinPath(folder, name))
      else this.#isPartial = true
    }
  }

  /** Lists the folders that the walk did not enter, within a limit. */
  async finish(storage: Storage, signal: AbortSignal): Promise<UnmatchedRecordings> {
    // The list grows meanwhile.
    for (const folder of this.#folders) {
      try {
        this.meet(folder, await storage.list(folder, { signal }))
      } catch (error) {
        if (!isAppError(error)) throw error
        this.#isPartial = true
      }
    }
    return { count: this.#count, isPartial: this.#isPartial, sample: this.#sample }
  }

  #add(recording: RecordingPath): void {
    this.#count += 1
    if (this.#sample.length < MAX_SAMPLE) this.#sample.push(recording)
  }
}
