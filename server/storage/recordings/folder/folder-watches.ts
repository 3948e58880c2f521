// Watches all folders of a tree: one watch per folder on Linux, one for the tree where the system
// supports it. Keeps no state per file, of which there may be millions.
import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname, join } from 'node:path'
import { codeOf } from '../../../base/errors.ts'
import { isVisibleName } from '../visible-path.ts'

export interface FolderWatchesOptions {
  /**
   * An entry of a watched folder was created, deleted or replaced (`rename`), or written to
   * (`change`).
   */
  onEvent: (kind: 'rename' | 'change', path: string) => void
  /** A watch ended by itself. */
  onError: (error: unknown) => void
}

/** Number of concurrent folder reads. */
const FOLDERS_AT_ONCE = 8
/** Deleted, replaced or unreadable: handled by the walk. */
const SKIPPED_CODES = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'])
const WATCHES_TREES = platform() === 'darwin' || platform() === 'win32'

/** Paths are absolute, spelled as given and as listed by the system. */
export class FolderWatches {
  readonly #options: FolderWatchesOptions
  readonly #watchers = new Map<string, FSWatcher>()
  #isClosed = false

  constructor(options: FolderWatchesOptions) {
    this.#options = options
  }

  has(folder: string): boolean {
    return this.#watchers.has(folder)
  }

  /**
   * Watches a folder and everything below that is not watched yet, each before it is listed, so
   * that no new folder is missed. Does not follow links. Rejects if the system has no more watches.
   */
  async add(start: string): Promise<void> {
    if (WATCHES_TREES && this.#watchers.size > 0) return
    const open = [start]
    while (open.length > 0) {
      const found = await Promise.all(
        open.splice(-FOLDERS_AT_ONCE).map(async (folder) => this.#watch(folder)),
      )
      for (const folders of found) for (const folder of folders) open.push(folder)
    }
  }

  /** Ends the watches of deleted folders and everything below them. */
  remove(folders: readonly string[]): void {
    const gone = new Set(folders.filter((folder) => this.#watchers.has(folder)))
    if (gone.size === 0) return
    for (const [folder, watcher] of this.#watchers) {
      if (!isAtOrBelow(folder, gone)) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
  }

  close(): void {
    this.#isClosed = true
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Returns the subfolders. */
  async #watch(folder: string): Promise<string[]> {
    if (this.#isClosed || this.#watchers.has(folder)) return []
    const { onEvent, onError } = this.#options
    try {
      const watcher = watch(folder, { recursive: WATCHES_TREES }, (kind, name) =>
        onEvent(kind, name === null ? folder : join(folder, name)),
      )
      watcher.on('error', onError)
      this.#watchers.set(folder, watcher)
      return WATCHES_TREES ? [] : await listFolders(folder)
    } catch (error) {
      if (SKIPPED_CODES.has(codeOf(error))) return []
      throw error
    }
  }
}

async function listFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory() && isVisibleName(entry.name))
    .map(({ name }) => join(folder, name))
}

function isAtOrBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path, above = dirname(at); ; at = above, above = dirname(at)) {
    if (folders.has(at)) return true
    if (above === at) return false
  }
}
