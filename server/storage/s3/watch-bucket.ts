// Reports changed folders of a bucket by comparing complete listings: stores notify nobody in a way
// that all of them support.
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAppError } from '../../errors.ts'
import type { Bucket } from './bucket.ts'

/** Pause for each page of the last listing, so that a listing costs at most one call a second. */
const PAUSE_PER_PAGE_MS = 1000
const MIN_PAUSE_MS = 3000
const MAX_PAUSE_MS = 3_600_000
const DIGEST_BYTES = 6
const DIGEST_LIMIT = 2 ** (8 * DIGEST_BYTES)

export interface WatchBucketOptions {
  bucket: Pick<Bucket, 'list'>
  prefix: string
  /** Called with a changed, added or removed folder; first with '', when watching has started. */
  onChange: (folder: string) => void
  /** Waits between two listings of `pages` pages. */
  pause?: (pages: number, signal: AbortSignal) => Promise<void>
}

/** Resolves when the signal aborts. A listing that fails is repeated later. */
export async function watchBucket(
  { bucket, prefix, onChange, pause = pauseFor }: WatchBucketOptions,
  signal: AbortSignal,
): Promise<void> {
  let known: Listing | undefined
  while (!signal.aborted) {
    const listing = await digestFolders(bucket, prefix, signal)
    if (listing !== undefined) {
      const changed = known === undefined ? [''] : changedFolders(known.folders, listing.folders)
      for (const folder of changed) onChange(folder)
      known = listing
    }
    await pause(listing?.pages ?? 1, signal)
  }
}

interface Listing {
  /** Sum of the digests of a folder's objects, which is the same in every order. */
  folders: Map<string, number>
  pages: number
}

/** Undefined if the store is unavailable or the signal aborts. */
async function digestFolders(
  bucket: Pick<Bucket, 'list'>,
  prefix: string,
  signal: AbortSignal,
): Promise<Listing | undefined> {
  const listing: Listing = { folders: new Map(), pages: 0 }
  try {
    for await (const page of bucket.list({ prefix, signal })) {
      for (const { key, stat } of page.objects) {
        const path = key.slice(prefix.length)
        const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')))
        const sum = (listing.folders.get(folder) ?? 0) + digest(`${path} ${stat.version}`)
        listing.folders.set(folder, sum % DIGEST_LIMIT)
      }
      listing.pages += 1
    }
    return listing
  } catch (error) {
    if (signal.aborted || isAppError(error)) return undefined
    throw error
  }
}

function changedFolders(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): string[] {
  const removed = [...before.keys()].filter((folder) => !after.has(folder))
  const changed = [...after].flatMap(([folder, sum]) => (before.get(folder) === sum ? [] : folder))
  return [...removed, ...changed]
}

function digest(text: string): number {
  return hash('sha1', text, 'buffer').readUIntBE(0, DIGEST_BYTES)
}

async function pauseFor(pages: number, signal: AbortSignal): Promise<void> {
  const pauseMs = Math.min(Math.max(MIN_PAUSE_MS, pages * PAUSE_PER_PAGE_MS), MAX_PAUSE_MS)
  await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined)
}
