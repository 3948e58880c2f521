// File-system events of a folder tree, as library paths of what changed.
import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../errors.ts'
import { FolderWatches } from './folder-watches.ts'
import { libraryPath } from './storage-path.ts'

/** Events are gathered for so long: a file that is written to makes many. */
const GATHER_MS = 50
/** Above this many in one batch, the system may have dropped some of them (Linux keeps 16384): anything may have changed. */
const MAX_EVENTS = 10_000

/**
 * Calls `onChange` with the changed folder ('' = anywhere; also once at first, as what changed before is not known)
 * until the signal aborts, then resolves. Rejects with `failed` where watching is not possible or ends by itself.
 */
export async function watchFolder(
  root: string,
  onChange: (folder: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  const ended = Promise.withResolvers<void>()
  const stop = (): void => ended.resolve()
  const fail = (cause: unknown): void => ended.reject(notWatchable(cause))
  const tree = new WatchedTree({ root, onChange, onEnded: fail })
  signal.addEventListener('abort', stop)
  try {
    tree.begin().then(() => onChange(''), fail)
    await ended.promise
  } finally {
    signal.removeEventListener('abort', stop)
    tree.close()
  }
}

interface WatchedTreeOptions {
  root: string
  onChange: (folder: string) => void
  onEnded: (error: unknown) => void
}

interface Batch {
  /** Of what an event told, with whether an entry of that name came or went. */
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

  /** Resolves when all is watched. Rejects where it cannot be. */
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
    if (batch.events >= MAX_EVENTS) return this.#beginAnew()
    const { root, onChange } = this.#options
    const changes = await seeChanges(root, batch.paths)
    // what is of a name now may be another folder than the one that was watched
    this.#watches.remove([...changes.gone, ...changes.come])
    for (const path of changes.come) await this.#watches.add(path)
    // what went from the root may be the root itself: its own watch tells of it by its name
    if (changes.gone.some((path) => dirname(path) === root)) await this.#checkRoot()
    for (const folder of changes.folders) onChange(folder)
  }

  /** Folders may have come of which nobody told. */
  async #beginAnew(): Promise<void> {
    this.#watches.remove([this.#options.root])
    await this.begin()
    this.#options.onChange('')
  }

  async #checkRoot(): Promise<void> {
    const { root } = this.#options
    const identity = await identityOf(root)
    const isSame = identity !== undefined && identity === this.#identity
    if (!isSame || !this.#watches.has(root)) throw new Error('the folder is not there any more')
  }
}

interface SeenChanges {
  /** Library paths: for a file the folder that holds it, for a folder itself, for what is gone its own path. */
  folders: Set<string>
  /** Absolute paths of folders that came, and of what is gone. */
  come: string[]
  gone: string[]
}

/** What is behind events now; nothing of what is hidden. */
async function seeChanges(root: string, paths: ReadonlyMap<string, boolean>): Promise<SeenChanges> {
  const changes: SeenChanges = { folders: new Set(), come: [], gone: [] }
  for (const [path, hasCome] of paths) {
    const itself = libraryPath(root, path)
    if (itself === undefined) continue
    const stats = await lstat(path).catch(() => undefined)
    if (stats === undefined) changes.gone.push(path)
    else if (stats.isDirectory() && hasCome) changes.come.push(path)
    const isFile = stats !== undefined && !stats.isDirectory()
    changes.folders.add(isFile ? itself.slice(0, Math.max(itself.lastIndexOf('/'), 0)) : itself)
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
