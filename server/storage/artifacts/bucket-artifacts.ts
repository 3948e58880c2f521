// Artifacts as objects of an S3-compatible store.
import { AppError, isAppError } from '../../base/errors.ts'
import type { S3Location } from '../recordings/storage-location.ts'
import { Bucket } from '../recordings/s3/bucket.ts'
import type { Versioned } from '../recordings/versioned-file.ts'
import { MAX_ARTIFACT_BYTES, NOTICE, NOTICE_NAME } from './artifact-store.ts'
import type { Artifact, ArtifactStore, ReplaceOptions, WriteOptions } from './artifact-store.ts'

/** Of the write at the start. */
const CHECK_TIMEOUT_MS = 5000

export class BucketArtifacts implements ArtifactStore {
  readonly #bucket: Bucket
  readonly #prefix: string

  private constructor(bucket: Bucket, prefix: string) {
    this.#bucket = bucket
    this.#prefix = prefix
  }

  /** Opens no connection. */
  static async open(location: S3Location): Promise<BucketArtifacts> {
    return new BucketArtifacts(await Bucket.open(location), location.prefix)
  }

  async read(name: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    return (await this.#find(name, signal))?.bytes
  }

  async write(name: string, make: Artifact['make'], options: WriteOptions): Promise<void> {
    const { existing, signal } = options
    const key = this.#prefix + name
    const isKept = existing === 'keep'
    if (isKept && (await orMissing(this.#bucket.head(key, signal))) !== undefined) return
    await this.#bucket.put(key, make(), { existing, signal })
  }

  async readVersioned(name: string, signal: AbortSignal): Promise<Versioned | undefined> {
    const found = await this.#find(name, signal)
    return found && { bytes: found.bytes, version: requireTag(found.etag) }
  }

  async replace(
    name: string,
    bytes: Uint8Array,
    { version, signal }: ReplaceOptions,
  ): Promise<string | undefined> {
    const existing = version === undefined ? 'keep' : { etag: version }
    const written = await this.#bucket.put(this.#prefix + name, bytes, { existing, signal })
    return written && requireTag(written.etag)
  }

  async #find(name: string, signal: AbortSignal) {
    return orMissing(this.#bucket.readWhole(this.#prefix + name, MAX_ARTIFACT_BYTES, signal))
  }

  /** @throws AppError `failed` or `busy` if the objects cannot be listed or written */
  async checkAccess(signal: AbortSignal): Promise<void> {
    await this.#bucket.hasKeys(this.#prefix, signal)
    await this.#bucket.put(this.#prefix + NOTICE_NAME, Buffer.from(NOTICE), {
      existing: 'replace',
      timeoutMs: CHECK_TIMEOUT_MS,
      signal,
    })
  }

  close(): void {
    this.#bucket.close()
  }
}

function requireTag(etag: string | undefined): string {
  if (etag === undefined) throw new AppError('failed', 'the store returned no ETag')
  return etag
}

async function orMissing<Value>(found: Promise<Value>): Promise<Value | undefined> {
  try {
    return await found
  } catch (error) {
    if (isAppError(error, 'not_found')) return undefined
    throw error
  }
}
