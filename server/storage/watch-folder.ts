// File-system events of a folder tree, as library paths of what changed.
import watcher from '@parcel/watcher'
import type { Event } from '@parcel/watcher'
import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../errors.ts'
import { InnerWatches } from './inner-watches.ts'
import { libraryPath } from './storage-path.ts'

/** Events of one batch that are looked at one by one; more of them count as a change anywhere. */
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
  const tell = (events: Event[]): void => {
    changedFolders(root, events).then((folders) => folders.forEach(onChange), ended.reject)
  }
  const inner = new InnerWatches({
    // What fails here is seen by the outer watch as well, or found by a rescan.
    report: (_error, events) => tell(events),
    onBegun: (path) => tell([{ path, type: 'update' }]),
  })
  const report = (error: Error | null, events: Event[]): void => {
    const isRootGone = events.some(({ path, type }) => type === 'delete' && path === root)
    if (error || isRootGone) return ended.reject(notWatchable(error))
    tell(events)
    followFolders(inner, events).catch(ended.reject)
  }
  const subscription = await watcher.subscribe(root, report).catch((error: unknown) => {
    throw notWatchable(error)
  })
  const stop = (): void => ended.resolve()
  signal.addEventListener('abort', stop)
  try {
    if (signal.aborted) return
    onChange('')
    await ended.promise
  } finally {
    signal.removeEventListener('abort', stop)
    await inner.close()
    await subscription.unsubscribe()
  }
}

/** What is new may be a folder with folders inside; more than a few at once are left to the rescan. */
async function followFolders(inner: InnerWatches, events: readonly Event[]): Promise<void> {
  if (events.length > MAX_EVENTS) return
  for (const { path, type } of events) {
    if (type === 'create') await inner.add(path)
    else if (type === 'delete') await inner.remove(path)
  }
}

/**
 * The folders in which something changed, each once: for a file the folder that holds it, for a folder itself; for
 * what vanished its own path, as it cannot be told any more what it was.
 */
async function changedFolders(root: string, events: readonly Event[]): Promise<Set<string>> {
  if (events.length > MAX_EVENTS) return new Set([''])
  const folders = new Set<string>()
  for (const { path, type } of events) {
    const changed = type === 'delete' || (await isFolder(path)) ? path : dirname(path)
    const relative = libraryPath(root, changed)
    if (relative !== undefined) folders.add(relative)
  }
  return folders
}

/** Not there any more counts as a folder: its own path is what vanished. */
async function isFolder(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined)
  return stats === undefined || stats.isDirectory()
}

function notWatchable(cause: unknown): AppError {
  return new AppError('failed', 'the library cannot be watched', { cause })
}
