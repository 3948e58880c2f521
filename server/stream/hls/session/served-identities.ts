// The identities under which finished recordings are served. Large files of one identity may differ
// between its samples, so it belongs to one path and to the first version of the file there.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { splitPath } from '../../../storage/recordings/library-path.ts'
import { endingOf, parseRecordingName } from '../../../library/catalog/names/recording-name.ts'
import type { Inspection } from '../../../media/index/inspect-recording.ts'
import { nameArtifact } from '../../../storage/artifacts/artifact-store.ts'
import type { SharedArtifacts } from '../../../storage/artifacts/shared-artifacts.ts'
import { writeAtomically } from '../../../storage/recordings/atomic-write.ts'
import type { FileStat } from '../../../storage/recordings/storage.ts'

/** Claims have a time limit of their own. */
const { signal: neverAborted } = new AbortController()

type Playable = Extract<Inspection, { status: 'playable' }>

export interface ServedIdentitiesOptions {
  /** Has one small file per identity: the version of the recording that has it. */
  folder: string
  /** The versions that nodes share. Default none. */
  shared?: SharedArtifacts | undefined
  /** Called after a failed read or write. The recording is served anyway. */
  onWriteError(error: unknown): void
}

export interface ServedIdentity {
  identity: string
  /** False if it could not be read or recorded: later, the recording may have another one. */
  isLasting: boolean
}

export class ServedIdentities {
  readonly #options: ServedIdentitiesOptions

  constructor(options: ServedIdentitiesOptions) {
    this.#options = options
  }

  /**
   * The identity of a recording's bytes at a path: the same on every machine that has the file
   * since it was complete; another one after any change of the file, if the inspection cannot
   * exclude that bytes between its samples have changed.
   */
  async identify(
    path: string,
    { identity, isExact }: Pick<Playable, 'identity' | 'isExact'>,
    { version }: FileStat,
  ): Promise<ServedIdentity> {
    if (isExact) return { identity, isLasting: true }
    const own = hashOf([lastingName(path), identity])
    const owner = await this.#owner(own, version)
    return {
      identity: owner === version ? own : hashOf([own, version]),
      isLasting: owner !== undefined,
    }
  }

  /**
   * The first version that was served under the identity: the given one if there was none.
   * Undefined if that cannot be known or recorded, so that no later version is served under it too.
   */
  async #owner(identity: string, version: string): Promise<string | undefined> {
    const path = join(this.#options.folder, identity.slice(0, 2), identity.slice(2))
    try {
      return (await readIfPresent(path)) ?? (await this.#claim(identity, path, version))
    } catch (error) {
      this.#options.onWriteError(error)
      return undefined
    }
  }

  async #claim(identity: string, path: string, version: string): Promise<string | undefined> {
    const { shared } = this.#options
    const owner = shared === undefined ? version : await claimShared(shared, identity, version)
    if (owner === undefined) return undefined
    await writeAtomically(path, owner, { existing: 'keep', sync: true })
    return readFile(path, 'utf8')
  }
}

/** The first version that any node has served under the identity. */
async function claimShared(
  shared: SharedArtifacts,
  identity: string,
  version: string,
): Promise<string | undefined> {
  const name = nameArtifact('served-1', [identity], 'txt')
  const owner = await shared.claim(name, () => Buffer.from(version), neverAborted)
  return owner && Buffer.from(owner).toString()
}

/** The path without the endings that change when a recorder finishes and renames the file. */
function lastingName(path: string): string[] {
  const { folder, name } = splitPath(path) ?? { folder: '', name: path }
  const base = parseRecordingName(name)?.base ?? name
  return [folder, base, endingOf(name.replace(/\.part$/i, '')) ?? '']
}

function hashOf(facts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
