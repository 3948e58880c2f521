// Identities of growing recordings, from bytes that do not change, valid while those bytes exist
// and, once the recording is finished, while the file is the same.
import { createHash, randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { closingAsync } from '../../../base/closing.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { endOf, hasBytes } from '../../../media/index/growth-mark.ts'
import type { GrowthMark } from '../../../media/index/growth-mark.ts'
import type { FileStat, Storage } from '../../../storage/recordings/storage.ts'
import type { RenditionCounts } from '../playlist/renditions.ts'
import type { SegmentForm } from '../playlist/segment-names.ts'
import { NotRecorded } from './growth-records.ts'
import type { GrowthDecision, GrowthRecord, GrowthRecords } from './growth-records.ts'

const MAX_UNRECORDED = 1000

export interface GrowingReference {
  session: SessionReference
  path: string
  /** Unique in the session. It does not change when the recorder renames the file at its end. */
  name: string
}

/** A recording as it is now. */
export interface GrowingState {
  mark: GrowthMark
  stat: FileStat
  /** It was written to a moment ago. */
  isGrowing: boolean
  form: SegmentForm
  counts: RenditionCounts
  /** It is listed as growing, now or again. Otherwise it is only identified if it ever was. */
  isListedAsGrowing: boolean
  /** This process can list it as it was before. */
  wasListedHere: boolean
}

export interface GrowingIdentity {
  identity: string
  /** Renditions of the first listing. */
  counts: RenditionCounts
  /** The identity stays valid while bytes are appended. */
  mayGrow: boolean
  /** False if it is not recorded: it is only that of this process, and only for now. */
  isLasting: boolean
}

interface Unrecorded {
  /** Part of the identity, so that no other process has it. */
  nonce: string
  record: GrowthRecord | undefined
}

export class GrowingIdentities {
  readonly #storage: Storage
  readonly #records: GrowthRecords
  readonly #onWriteError: (error: unknown) => void
  /** Identities of recordings for which no growth record could be written. */
  readonly #unrecorded = new LRUCache<string, Unrecorded>({ max: MAX_UNRECORDED })

  constructor(storage: Storage, records: GrowthRecords, onWriteError: (error: unknown) => void) {
    this.#storage = storage
    this.#records = records
    this.#onWriteError = onWriteError
  }

  /**
   * The identity of a recording that is, or ever was, listed while growing: the same in every
   * process, after restarts and after a rename. If other bytes have replaced the listed ones, the
   * identity is another. Undefined if the recording was never listed while growing. All that may be
   * listed now is recorded before.
   *
   * @throws NotRecorded if it can only be listed as it was before; AppError `busy` if the file is
   *   newer than the state
   */
  async identify(
    reference: GrowingReference,
    state: GrowingState,
  ): Promise<GrowingIdentity | undefined> {
    const { session } = reference
    const name = recordName(reference)
    const key = recordedKey(reference)
    let wasValid = false
    try {
      const identity = await this.#records.update({ session, name }, async (growth) => {
        const decided = await this.#decide(reference, growth?.[name], state)
        wasValid = decided.isValid
        return decided
      })
      this.#unrecorded.delete(key)
      return identity
    } catch (error) {
      if (!(error instanceof NotRecorded)) throw error
      this.#onWriteError(error.cause)
      if (wasValid && state.isGrowing && state.wasListedHere) throw error
    }
    const unrecorded = this.#unrecorded.get(key)
    const { nonce = randomUUID(), record } = unrecorded ?? {}
    const { value, change } = await this.#decide(reference, record, state)
    if (value === undefined) return undefined
    this.#unrecorded.set(key, { nonce, record: change?.[name] ?? record })
    return { ...value, identity: hashOf([value.identity, nonce]), isLasting: false }
  }

  /** Whether the session was ever listed while it was growing. */
  async wasListed(session: SessionReference): Promise<boolean> {
    return this.#records.wasListed(session)
  }

  /** Records that the session is listed while it is growing. */
  async recordListed(session: SessionReference): Promise<void> {
    await this.#records.recordListed(session)
  }

  async #decide(
    reference: GrowingReference,
    known: GrowthRecord | undefined,
    state: GrowingState,
  ): Promise<GrowthDecision<GrowingIdentity | undefined> & { isValid: boolean }> {
    const { mark, stat, form, isGrowing, isListedAsGrowing } = state
    if (known === undefined && !isListedAsGrowing) return { value: undefined, isValid: false }
    const isValid = known !== undefined && (await this.#isValid(reference, known, state))
    if (!isValid && !isListedAsGrowing) return { value: undefined, isValid }
    const continued = isValid ? known : undefined
    const generation = continued?.generation ?? (known?.generation ?? -1) + 1
    const { counts } = continued ?? state
    const startHash = mark.start.hash
    const recordedTail = continued?.tail ?? mark.tail
    const tail = endOf(recordedTail) > endOf(mark.tail) ? recordedTail : mark.tail
    const earlier = known?.startHash === startHash ? known.finished : undefined
    const mayGrow = isGrowing && (earlier === undefined || hasGrown(stat, earlier))
    const finished = mayGrow ? earlier : { ...stat, path: reference.path }
    const record = { generation, startHash, tail, form, counts, finished }
    const value = { identity: formatIdentity(reference, record), counts, mayGrow, isLasting: true }
    const isRecorded =
      continued?.tail.hash === tail.hash && continued.finished?.version === finished?.version
    return { value, isValid, change: isRecorded ? undefined : { [recordName(reference)]: record } }
  }

  /**
   * Whether the recording has all bytes that were listed.
   *
   * @throws AppError `busy` if the file is not the one of the state any more
   */
  async #isValid(
    { path }: GrowingReference,
    known: GrowthRecord,
    { mark, stat, form }: GrowingState,
  ): Promise<boolean> {
    const file = await this.#storage.open(path)
    await using _closing = closingAsync(file)
    if (!(await hasBytes(file, mark.tail))) throw outdated()
    if (known.startHash !== mark.start.hash || known.form !== form) return false
    const { finished, tail } = known
    if (finished === undefined || continues({ ...stat, path }, finished)) {
      return tail.hash === mark.tail.hash || (await hasBytes(file, tail))
    }
    if (file.stat.version === finished.version) throw outdated()
    return false
  }
}

function outdated(): AppError {
  return new AppError('busy', 'the recording has changed since it was read; try again in a moment')
}

type FinishedFile = NonNullable<GrowthRecord['finished']>

/** Whether the file is the finished one, renamed or not, or more was appended to it. */
function continues(file: FinishedFile, finished: FinishedFile): boolean {
  if (file.version === finished.version || hasGrown(file, finished)) return true
  const { path, sizeBytes, modifiedMs } = finished
  return file.path !== path && file.sizeBytes === sizeBytes && file.modifiedMs === modifiedMs
}

function hasGrown(file: Pick<FileStat, 'sizeBytes'>, finished: FinishedFile): boolean {
  return file.sizeBytes > finished.sizeBytes
}

/** `__proto__` is no name of a record, and what objects inherit is no record. */
function recordName({ name }: GrowingReference): string {
  return name in Object.prototype ? `/${name}` : name
}

function recordedKey({ session, name }: GrowingReference): string {
  return JSON.stringify([session.streamer, session.date, session.sessionId, name])
}

/** Includes session and name: other recordings may start with the same bytes. */
function formatIdentity(
  { session, name }: GrowingReference,
  { generation, startHash }: GrowthRecord,
): string {
  const { streamer, date, sessionId } = session
  return hashOf(['grown', streamer, date, sessionId, name, generation, startHash])
}

function hashOf(facts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url')
}
