// File system events of a folder tree, as library paths of what changed.
import { addAbortListener } from 'node:events'
import { folderOf } from '../library-path.ts'
import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { closing } from '../../../base/closing.ts'
import { AppError } from '../../../base/errors.ts'
import { FolderWatches } from './folder-watches.ts'
import { libraryPath } from './storage-path.ts'

/** Events are batched for this long, since a file being written causes many. */
const GATHER_MS = 50
/**
 * With more events in one batch, the system may have dropped some (Linux queues 16384): anything
 * may have changed.
 */
const MAX_EVENTS = 10_000

/**
 * Calls `onChange` with the changed folder ('' = anywhere; also at the start, since earlier changes
 * are unknown) until the signal aborts, then resolves. Rejects with `failed` if watching is not
 * possible or ends by itself.
 */
export async function watchFolder(
  root: string,
  onChange: (folder: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  const ended = Promise.withResolvers<void>()
  const fail = (cause: unknown): void => ended.reject(notWatchable(cause))
  const tree = new WatchedTree({ root, onChange, onEnded: fail })
  using _closing = closing(tree)
  using _stopping = addAbortListener(signal, () => ended.resolve())
  tree.begin().then(() => onChange(''), fail)
  await ended.promise
}

interface WatchedTreeOptions {
  root: string
  onChange: (folder: string) => void
  onEnded: (error: unknown) => void
}

interface Batch {
  /** Paths of events, and whether an entry of that name was created or deleted. */
  paths: Map<string, boolean>
  events: number
}

class WatchedTree {
  readonly #options: WatchedTreeOptions
  readonly #watches: FolderWatches
  /** Device and inode of the root. */
  #identity: string | undefined
  #batch: Batch | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: WatchedTreeOptions) {
    this.#options = options
    this.#watches = new FolderWatches({
      onEvent: (kind, path) => this.#note(path, kind === 'rename'),
      onError: options.onEnded,
    })
  }

  /** Resolves when everything is watched; rejects if that is not possible. */
  async begin(): Promise<void> {
    const { root } = this.#options
    this.#identity = await identityOf(root)
    await this.#watches.add(root)
    await this.#checkRoot()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#watches.close()
  }

  #note(path: string, hasCome: boolean): void {
    this.#batch ??= { paths: new Map(), events: 0 }
    const { paths } = this.#batch
    this.#batch.events += 1
    if (paths.size < MAX_EVENTS) paths.set(path, hasCome || paths.get(path) === true)
    this.#timer ??= setTimeout(() => {
      this.#follow().catch(this.#options.onEnded)
    }, GATHER_MS)
  }

  async #follow(): Promise<void> {
    const batch = this.#batch
    this.#batch = undefined
    this.#timer = undefined
    if (batch === undefined) return
    if (batch.events >= MAX_EVENTS) return this.#restart()
    const { root, onChange } = this.#options
    const changes = await seeChanges(root, batch.paths)
    // The name may now belong to another folder than the watched one.
    this.#watches.remove([...changes.gone, ...changes.come])
    for (const path of changes.come) await this.#watches.add(path)
    // A deleted child of the root may be the root itself: its own watch reports it by name.
    if (changes.gone.some((path) => dirname(path) === root)) await this.#checkRoot()
    for (const folder of changes.folders) onChange(folder)
  }

  /** Starts over after a possible loss of events: new folders may have been missed. */
  async #restart(): Promise<void> {
    this.#watches.remove([this.#options.root])
    await this.begin()
    this.#options.onChange('')
  }

  async #checkRoot(): Promise<void> {
    const { root } = this.#options
    const identity = await identityOf(root)
    const isSame = identity !== undefined && identity === this.#identity
    if (!isSame || !this.#watches.has(root)) throw new Error('the folder no longer exists')
  }
}

interface SeenChanges {
  /**
   * Library paths: the parent folder of a file, a folder itself, the own path of what was deleted.
   */
  folders: Set<string>
  /** Absolute paths of new folders and of what was deleted. */
  come: string[]
  gone: string[]
}

/** Resolves events to the current state; ignores hidden entries. */
async function seeChanges(root: string, paths: ReadonlyMap<string, boolean>): Promise<SeenChanges> {
  const changes: SeenChanges = { folders: new Set(), come: [], gone: [] }
  for (const [path, hasCome] of paths) {
    const itself = libraryPath(root, path)
    if (itself === undefined) continue
    const stats = await lstat(path).catch(() => undefined)
    if (stats === undefined) changes.gone.push(path)
    else if (stats.isDirectory() && hasCome) changes.come.push(path)
    const isFile = stats !== undefined && !stats.isDirectory()
    changes.folders.add(isFile ? folderOf(itself) : itself)
  }
  return changes
}

async function identityOf(path: string): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined)
  return stats && `${stats.dev}:${stats.ino}`
}

function notWatchable(cause: unknown): AppError {
  return new AppError('failed', 'the library cannot be watched', { cause })
}
