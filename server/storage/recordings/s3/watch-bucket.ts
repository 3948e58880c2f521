// Reports changed folders of a bucket by comparing complete listings: stores notify nobody in a way
// that all of them support.
import { folderOf } from '../library-path.ts'
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../../../../shared/backoff.ts'
import { isAppError } from '../../../base/errors.ts'
import type { Bucket } from './bucket.ts'

/** Pause for each page of the last listing, so that a listing costs at most one call a second. */
const PAUSE_PER_PAGE_MS = 1000
const MIN_PAUSE_MS = 3000
const MAX_PAUSE_MS = 3_600_000
/** Pauses after a listing that also failed in the retries of the SDK. */
const RETRY = { firstMs: 1000, maxMs: 30_000 }
const DIGEST_BYTES = 6
const DIGEST_LIMIT = 2 ** (8 * DIGEST_BYTES)

export interface WatchBucketOptions {
  bucket: Pick<Bucket, 'list'>
  prefix: string
  /** Called with a changed, added or removed folder; first with '', when watching has started. */
  onChange: (folder: string) => void
  /** Resolves early when the signal aborts. */
  pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>
  random?: () => number
}

/** Resolves when the signal aborts. A listing that fails is repeated later. */
export async function watchBucket(options: WatchBucketOptions, signal: AbortSignal): Promise<void> {
  const { onChange, pause = pauseFor } = options
  let known: ReadonlyMap<string, number> | undefined
  while (!signal.aborted) {
    const listing: Listing = { folders: new Map(), pages: 0, next: undefined }
    if (await complete(listing, options, signal)) {
      const changed = known === undefined ? [''] : changedFolders(known, listing.folders)
      for (const folder of changed) onChange(folder)
      known = listing.folders
    }
    const pauseMs = Math.max(MIN_PAUSE_MS, listing.pages * PAUSE_PER_PAGE_MS)
    await pause(Math.min(pauseMs, MAX_PAUSE_MS), signal)
  }
}

interface Listing {
  /** Sum of the digests of a folder's objects, which is the same in every order. */
  folders: Map<string, number>
  pages: number
  /** The token of the next page. */
  next: string | undefined
}

/**
 * Lists everything, and repeats pages for which the store is unavailable. Returns false if the
 * signal aborts, or if the store refuses a page: its token may have expired.
 */
async function complete(
  listing: Listing,
  options: WatchBucketOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { pause = pauseFor, random = Math.random } = options
  for (let failures = 0; !signal.aborted; failures += 1) {
    const { pages } = listing
    try {
      await addPages(listing, options, signal)
      return true
    } catch (error) {
      if (!signal.aborted && !isAppError(error)) throw error
      if (signal.aborted || !isAppError(error, 'busy')) return false
      if (listing.pages > pages) failures = 0
      await pause(backoffMs(failures, { ...RETRY, random }), signal)
    }
  }
  return false
}

/** Adds the rest of the pages. @throws as `Bucket.list`; the pages before are in the listing */
async function addPages(
  listing: Listing,
  { bucket, prefix }: WatchBucketOptions,
  signal: AbortSignal,
): Promise<void> {
  for await (const page of bucket.list({ prefix, from: listing.next, signal })) {
    for (const { key, stat } of page.objects) {
      const path = key.slice(prefix.length)
      const folder = folderOf(path)
      const sum = (listing.folders.get(folder) ?? 0) + digest(`${path} ${stat.version}`)
      listing.folders.set(folder, sum % DIGEST_LIMIT)
    }
    listing.pages += 1
    listing.next = page.next
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

async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
}
