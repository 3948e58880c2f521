// Artifacts in a folder, such as a mount that all nodes share.
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Gate } from '../../base/admission/gate.ts'
import { AppError, codeOf, isAppError, reasonOf } from '../../base/errors.ts'
import { syncFolder, writeAtomically } from '../recordings/atomic-write.ts'
import { readVersioned, replaceVersioned } from '../recordings/versioned-file.ts'
import type { Versioned } from '../recordings/versioned-file.ts'
import { MAX_ARTIFACT_BYTES, NOTICE, NOTICE_NAME } from './artifact-store.ts'
import type { Artifact, ArtifactStore, ReplaceOptions, WriteOptions } from './artifact-store.ts'

/** A mount that hangs blocks as many threads, of the four that all files share. */
const CONCURRENT_OPERATIONS = 2
const MAX_WAITING_OPERATIONS = 10_000

export class FolderArtifacts implements ArtifactStore {
  readonly #folder: string
  readonly #gate = new Gate({
    limit: CONCURRENT_OPERATIONS,
    waiting: MAX_WAITING_OPERATIONS,
    busyMessage: 'too many artifacts are read or written',
  })

  constructor(folder: string) {
    this.#folder = folder
  }

  async read(name: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const path = join(this.#folder, name)
    return this.#gate.run(async () => asFailure(readLimited(path)), signal)
  }

  async write(name: string, make: Artifact['make'], options: WriteOptions): Promise<void> {
    const path = join(this.#folder, name)
    await this.#gate.run(async () => asFailure(this.#write(path, make, options)), options.signal)
  }

  async readVersioned(name: string, signal: AbortSignal): Promise<Versioned | undefined> {
    const path = join(this.#folder, name)
    return this.#gate.run(async () => asFailure(readVersioned(path)), signal)
  }

  async replace(
    name: string,
    bytes: Uint8Array,
    { version, signal }: ReplaceOptions,
  ): Promise<string | undefined> {
    const replaceInFolder = async (): Promise<string | undefined> => {
      await this.#requireFolder()
      return replaceVersioned(join(this.#folder, name), bytes, version)
    }
    return this.#gate.run(async () => asFailure(replaceInFolder()), signal)
  }

  close(): void {
    // Nothing is open between operations.
  }

  async #write(
    path: string,
    make: Artifact['make'],
    { existing, isClaim = false }: WriteOptions,
  ): Promise<void> {
    await this.#requireFolder()
    if (existing === 'replace' || !(await isPresent(path)))
      await writeAtomically(path, make(), { existing, sync: isClaim })
    else if (isClaim) await syncFolder(dirname(path))
  }

  /** One that was unmounted must not be created again on the disk of this machine. */
  async #requireFolder(): Promise<void> {
    await stat(this.#folder)
  }
}

/**
 * Creates the folder in an existing one, and writes a file into it.
 *
 * @throws AppError `failed` if that is not possible
 */
export async function checkFolder(folder: string): Promise<void> {
  await asFailure(createAndWrite(folder))
}

async function createAndWrite(folder: string): Promise<void> {
  await mkdir(folder).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  await writeAtomically(join(folder, NOTICE_NAME), NOTICE)
}

async function readLimited(path: string): Promise<Uint8Array | undefined> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    if (size > MAX_ARTIFACT_BYTES) throw new AppError('failed', 'an artifact is too large')
    return await file.readFile()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

async function isPresent(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

async function asFailure<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (cause) {
    if (isAppError(cause)) throw cause
    throw new AppError('failed', `the folder cannot be used: ${reasonOf(cause)}`, { cause })
  }
}
