// The interface of a store that all nodes share, and the names of what is in it.
import { createHash } from 'node:crypto'

/** A larger one is neither written nor read; the index of ten hours takes a few megabytes. */
export const MAX_ARTIFACT_BYTES = 256 * 1024 * 1024

/** Bytes that are made when they are needed, maybe more than once. */
export interface Artifact {
  /** At least about the size of the bytes, and of what they are made from. */
  sizeBytes: number
  make: () => Uint8Array
}

export interface WriteOptions {
  /** `keep` leaves an artifact of this name as it is; `replace` is for one that is corrupt. */
  existing: 'keep' | 'replace'
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
