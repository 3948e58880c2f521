// The interface of a store that all nodes share, and the names of what is in it.
import { createHash } from 'node:crypto'
import type { Versioned } from '../recordings/versioned-file.ts'

/** A larger one is neither written nor read; the index of ten hours takes a few megabytes. */
export const MAX_ARTIFACT_BYTES = 256 * 1024 * 1024

/** Bytes that are made when they are needed, maybe more than once. */
export interface Artifact {
  /** At least about the size of the bytes, and of what they are made from. */
  sizeBytes: number
  make: () => Uint8Array
}

/** Of a write that depends on what is there. */
export interface ReplaceOptions {
  /** Of what must be there; undefined if nothing must be. */
  version: string | undefined
  signal: AbortSignal
}

export interface WriteOptions {
  /** `keep` leaves an artifact of this name as it is; `replace` is for one that is corrupt. */
  existing: 'keep' | 'replace'
  /** What is there afterwards must survive a power failure. Default false. */
  isClaim?: boolean
  signal: AbortSignal
}

/** Bytes by name. Names have three components, joined by `/`, and are never user input. */
export interface ArtifactStore {
  /**
   * Undefined if there is no such artifact.
   *
   * @throws AppError `busy` or `failed`, or the signal's reason
   */
  read(name: string, signal: AbortSignal): Promise<Uint8Array | undefined>
  /**
   * Readers get all bytes or none. The bytes are made only if they are written.
   *
   * @throws AppError `busy` or `failed`, or the signal's reason
   */
  write(name: string, make: Artifact['make'], options: WriteOptions): Promise<void>
  /**
   * An artifact that changes; its name is that of no other artifact.
   *
   * @throws as `read`
   */
  readVersioned(name: string, signal: AbortSignal): Promise<Versioned | undefined>
  /**
   * Replaces an artifact that changes, by compare-and-set. Returns the version that others read
   * from now on; undefined if another one is there than expected, and nothing was written.
   *
   * @throws as `write`; it may have been written nevertheless
   */
  replace(name: string, bytes: Uint8Array, options: ReplaceOptions): Promise<string | undefined>
  /** Closes its connections. */
  close(): void
}

/**
 * The name of an artifact of the facts that it is derived from.
 *
 * @param kind what it is, and the version of its format, so that releases can share a store
 */
export function nameArtifact(kind: string, facts: readonly string[], extension: string): string {
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('hex')
  return `${kind}/${hash.slice(0, 2)}/${hash.slice(2)}.${extension}`
}

/** A file at the root: its write at the start shows that artifacts can be written. */
export const NOTICE_NAME = 'README.txt'

export const NOTICE = `Artifacts of Aftercast: indexes, thumbnails and chats, derived from recordings.
They may be deleted at any time, and are then computed again. Only grown-1, grown-2,
served-1 and audio-1 must stay, and need a backup: they have which bytes some URLs name.
Whoever can write here decides what all nodes serve.
`
