// What nodes derive from recordings, shared by all of them: read within a time limit, written in
// the background. Without the store, a node computes everything by itself.
import { LRUCache } from 'lru-cache'
import { withTimeout } from '../../../shared/with-timeout.ts'
import { AppError, isAppError } from '../../base/errors.ts'
import type { Versioned } from '../recordings/versioned-file.ts'
import type { Artifact, ArtifactStore, WriteOptions } from './artifact-store.ts'
import { MAX_ARTIFACT_BYTES } from './artifact-store.ts'
import { Availability } from './availability.ts'
import type { Attempt } from './availability.ts'
import { seal, unseal } from './sealed-bytes.ts'

/** Of a read, before the artifact is computed instead: a request waits for 8 s at most. */
const READ_TIMEOUT_MS = 5000
const WRITE_TIMEOUT_MS = 60_000
/** For waiting writes at shutdown. */
const CLOSE_TIMEOUT_MS = 10_000
const CONCURRENT_WRITES = 4
const MAX_WAITING_BYTES = 64 * 1024 * 1024
const MAX_REMEMBERED_NAMES = 20_000
const SHORTEST_RETRY_MS = 250
/** Failed writes of an artifact while the store is not just unavailable. */
const MAX_REFUSALS = 10

export interface SharedArtifactsOptions {
  store: ArtifactStore
  log: { warn(details: object, message: string): void }
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

interface WaitingArtifact extends Artifact {
  existing: WriteOptions['existing']
  /** Writes that failed. */
  refusals: number
}

/** What a process has read and written so far, and what waits to be written. */
export interface ArtifactFigures {
  /** Artifacts of other nodes, or of an earlier run. */
  hits: number
  /** Missing or corrupt. */
  misses: number
  /** Reads while the store was unavailable. */
  unavailable: number
  written: number
  waiting: number
}

/** Each artifact is written once, by the node that computed it first. */
export class SharedArtifacts {
  readonly #store: ArtifactStore
  readonly #log: SharedArtifactsOptions['log']
  /** One each: a write that fails, maybe for its size, delays no read. */
  readonly #reading: Availability
  readonly #writing: Availability
  readonly #shared = new LRUCache<string, true>({ max: MAX_REMEMBERED_NAMES })
  readonly #corrupt = new LRUCache<string, true>({ max: MAX_REMEMBERED_NAMES })
  /** By name, in the order of their writes. */
  readonly #waiting = new Map<string, WaitingArtifact>()
  readonly #writes = new Map<string, Promise<void>>()
  readonly #reads = { hits: 0, misses: 0, unavailable: 0 }
  #written = 0
  #waitingBytes = 0
  #retry: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ store, log, now = () => performance.now() }: SharedArtifactsOptions) {
    this.#store = store
    this.#log = log
    this.#reading = new Availability({
      now,
      onFailure: (err) => log.warn({ err }, 'shared artifacts cannot be read; retrying later'),
    })
    this.#writing = new Availability({
      now,
      onFailure: (err) => log.warn({ err }, 'artifacts cannot be shared; retrying later'),
    })
  }

  get figures(): ArtifactFigures {
    return { ...this.#reads, written: this.#written, waiting: this.#waiting.size }
  }

  /**
   * Undefined if there is no such artifact, it is corrupt, or the store is unavailable. Rejects
   * only with the signal's reason.
   */
  async read(name: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const limit = { timeoutMs: READ_TIMEOUT_MS, signal }
    const found = await this.#reading.run(async (attempt) => this.#store.read(name, attempt), limit)
    const bytes =
      found.status === 'done' && found.value !== undefined ? unseal(found.value) : undefined
    if (bytes !== undefined) {
      this.#reads.hits += 1
      this.#shared.set(name, true)
      return bytes
    }
    this.#reads[found.status === 'done' ? 'misses' : 'unavailable'] += 1
    if (found.status !== 'done' || found.value === undefined) return undefined
    this.#corrupt.set(name, true)
    this.#log.warn({ artifact: name }, 'a shared artifact is corrupt; it will be replaced')
    return undefined
  }

  /**
   * Writes the artifact in the background, unless it is known to be shared. Writes that fail are
   * repeated; beyond a limit of memory, further ones are left out.
   */
  share(name: string, artifact: Artifact): void {
    if (this.#isClosed || this.#shared.has(name) || this.#waiting.has(name)) return
    this.#addWaiting(name, artifact, this.#corrupt.has(name) ? 'replace' : 'keep')
  }

  /**
   * Writes the artifact unless there is one, and returns what is there then: the same for every
   * node. Undefined if the store is unavailable, or what is there is corrupt: its owner is unknown.
   * Rejects only with the signal's reason.
   */
  async claim(
    name: string,
    make: Artifact['make'],
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const claimed = await this.#writing.run(
      async (attempt) => {
        const options = { existing: 'keep', isClaim: true, signal: attempt } as const
        await this.#store.write(name, () => seal(make()), options)
        return this.#store.read(name, attempt)
      },
      { timeoutMs: READ_TIMEOUT_MS, signal },
    )
    const found = claimed.status === 'done' ? claimed.value : undefined
    const bytes = found && unseal(found)
    if (bytes !== undefined) this.#shared.set(name, true)
    return bytes
  }

  /**
   * As `ArtifactStore.readVersioned`.
   *
   * @throws AppError `busy` if the store is unavailable, `failed` if the artifact is corrupt
   */
  async readVersioned(name: string): Promise<Versioned | undefined> {
    const find = async (signal: AbortSignal) => this.#store.readVersioned(name, signal)
    const attempt = await this.#reading.run(find, { timeoutMs: READ_TIMEOUT_MS })
    if (attempt.status !== 'done') this.#reads.unavailable += 1
    const found = valueOf(attempt)
    this.#reads[found === undefined ? 'misses' : 'hits'] += 1
    if (found === undefined) return undefined
    const bytes = unseal(found.bytes)
    if (bytes === undefined) throw new AppError('failed', `the artifact ${name} is corrupt`)
    return { bytes, version: found.version }
  }

  /**
   * As `ArtifactStore.replace`.
   *
   * @throws AppError `busy` if the store is unavailable; it may have been replaced nevertheless
   */
  async replace(
    name: string,
    bytes: Uint8Array,
    version: string | undefined,
  ): Promise<string | undefined> {
    const replaceInTime = async (signal: AbortSignal) =>
      this.#store.replace(name, seal(bytes), { version, signal })
    return valueOf(await this.#writing.run(replaceInTime, { timeoutMs: READ_TIMEOUT_MS }))
  }

  #addWaiting(name: string, artifact: Artifact, existing: WriteOptions['existing']): void {
    const { sizeBytes } = artifact
    const isFull = this.#waitingBytes > 0 && this.#waitingBytes + sizeBytes > MAX_WAITING_BYTES
    if (isFull || sizeBytes > MAX_ARTIFACT_BYTES) {
      this.#log.warn({ artifact: name }, 'an artifact was not shared: too many wait to be written')
      return
    }
    this.#waiting.set(name, { ...artifact, existing, refusals: 0 })
    this.#waitingBytes += sizeBytes
    this.#startWrites()
  }

  /** Waits for the writes, unless the store is unavailable, within a time limit. */
  async close(): Promise<void> {
    this.#isClosed = true
    const drain = async (): Promise<void> => {
      while (this.#writes.size > 0) await Promise.race(this.#writes.values())
    }
    // The log reports what was not written in time.
    await withTimeout(drain, { timeoutMs: CLOSE_TIMEOUT_MS }).catch(() => undefined)
    clearTimeout(this.#retry)
    const { size: artifacts } = this.#waiting
    if (artifacts > 0) this.#log.warn({ artifacts }, 'artifacts were not shared before the end')
    this.#store.close()
  }

  #startWrites(): void {
    for (const [name, artifact] of this.#waiting) {
      if (this.#writes.size >= CONCURRENT_WRITES) return
      if (this.#writes.has(name)) continue
      this.#writes.set(name, this.#write(name, artifact))
    }
  }

  /** Never rejects. */
  async #write(name: string, artifact: WaitingArtifact): Promise<void> {
    const { existing } = artifact
    const written = await this.#writing.run(
      async (signal) => this.#store.write(name, () => seal(artifact.make()), { existing, signal }),
      { timeoutMs: WRITE_TIMEOUT_MS },
    )
    this.#writes.delete(name)
    if (written.status === 'paused') return this.#retryLater()
    this.#waiting.delete(name)
    this.#waitingBytes -= artifact.sizeBytes
    if (written.status === 'failed') return this.#repeat(name, artifact, written.error)
    this.#written += 1
    this.#corrupt.delete(name)
    this.#shared.set(name, true)
    this.#startWrites()
  }

  /** Adds a failed write again, after the others that wait. */
  #repeat(name: string, artifact: WaitingArtifact, error: unknown): void {
    const refusals = artifact.refusals + (isAppError(error, 'busy') ? 0 : 1)
    if (refusals === MAX_REFUSALS) {
      this.#log.warn({ artifact: name, err: error }, 'an artifact was not shared')
    } else {
      this.#waiting.set(name, { ...artifact, refusals })
      this.#waitingBytes += artifact.sizeBytes
    }
    this.#retryLater()
  }

  #retryLater(): void {
    if (this.#isClosed || this.#retry !== undefined) return
    const pauseMs = Math.max(SHORTEST_RETRY_MS, this.#writing.pauseMs)
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.#startWrites()
    }, pauseMs).unref()
  }
}

/** @throws AppError `busy` */
function valueOf<Value>(attempt: Attempt<Value>): Value {
  if (attempt.status === 'done') return attempt.value
  const cause = attempt.status === 'failed' ? attempt.error : undefined
  throw new AppError('busy', 'the shared artifacts are unavailable', { cause })
}
