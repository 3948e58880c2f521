// A bounded list of entries by session, stored in this browser only.
import { sessionKey } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { readBasePath } from '../base-path.ts'
import { openStorage } from './open-storage.ts'

interface StoredEntriesOptions<T extends unknown[]> {
  storageKey: string
  /** The least recently written one is evicted first. */
  limit: number
  /** Whether an entry's values, which any script may have written, can be used. */
  isValid(this: void, values: unknown[]): values is T
}

/** Reads and writes fail silently where storage is full or off. `open` may throw. */
export interface StoredEntries<T extends unknown[]> {
  /** All entries by `sessionKey`, the most recently written one last. */
  read(open?: () => Storage): [key: string, ...values: T][]
  /** The values of a session; undefined if there are none. */
  find(session: SessionReference, open?: () => Storage): T | undefined
  write(session: SessionReference, values: T, open?: () => Storage): void
}

/**
 * A list in `localStorage`: JSON of `[key, ...values]` for each session. Sites below several paths
 * of one origin have lists of their own.
 */
export function createStoredEntries<T extends unknown[]>({
  storageKey,
  limit,
  isValid,
}: StoredEntriesOptions<T>): StoredEntries<T> {
  const listKey = storageKey + readBasePath()
  const read: StoredEntries<T>['read'] = (open = openStorage) => {
    try {
      const saved: unknown = JSON.parse(open().getItem(listKey) ?? '[]')
      return Array.isArray(saved) ? saved.slice(-limit).flatMap(parseEntry) : []
    } catch {
      return []
    }
  }

  function parseEntry(entry: unknown): [string, ...T][] {
    if (!Array.isArray(entry)) return []
    const [key, ...values]: unknown[] = entry
    return typeof key === 'string' && isValid(values) ? [[key, ...values]] : []
  }

  return {
    read,
    find(session, open) {
      const key = sessionKey(session)
      const found = read(open).find(([other]) => other === key)
      if (!found) return undefined
      const [, ...values] = found
      return values
    },
    write(session, values, open = openStorage) {
      const key = sessionKey(session)
      const others = read(open).filter(([other]) => other !== key)
      try {
        open().setItem(listKey, JSON.stringify([...others, [key, ...values]].slice(-limit)))
      } catch {
        // Storage is full or off.
      }
    },
  }
}
