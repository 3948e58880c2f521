// Identities of growing recordings, from bytes that do not change, valid while those bytes exist
// and, once the recording is finished, while the file is the same.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../../shared/paths.ts'
import { isAppError } from '../../errors.ts'
import { hasBytes } from '../../media/index/growth-mark.ts'
import type { GrowthMark, MarkedBytes } from '../../media/index/growth-mark.ts'
import type { FileStat, Storage } from '../../storage/storage.ts'
import type { RenditionCounts } from '../playlist/renditions.ts'
import type { SegmentForm } from '../playlist/segment-names.ts'
import type { GrowthRecord, GrowthRecords } from './growth-records.ts'

/** The progress of a recording is recorded at most this often. */
const RECORD_EVERY_MS = 30_000
const MAX_RECORDED = 1000

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
}

export interface GrowingIdentity {
  identity: string
  /** Renditions of the first listing. */
  counts: RenditionCounts
  /** The identity stays valid while bytes are appended. */
  mayGrow: boolean
}

export class GrowingIdentities {
  readonly #storage: Storage
  readonly #records: GrowthRecords
  readonly #recordedMs = new LRUCache<string, number>({ max: MAX_RECORDED })

  constructor(storage: Storage, records: GrowthRecords) {
    this.#storage = storage
    this.#records = records
  }

  /**
   * The identity of a recording that is, or ever was, listed while growing: the same in every
   * process, after restarts and after a rename. If other bytes have replaced the listed ones, the
   * identity is another. Undefined if the recording was never listed while growing.
   */
  async identify(
    reference: GrowingReference,
    state: GrowingState,
  ): Promise<GrowingIdentity | undefined> {
    const { mark, stat, form, isGrowing, isListedAsGrowing } = state
    // Read the record before the file: another process may record a longer file at any time, but
    // never bytes that are not in the file yet.
    const known = (await this.#records.read(reference.session))?.[reference.name]
    const isValid = known !== undefined && (await this.#isValid(reference, known, state))
    if (!isValid && !isListedAsGrowing) return undefined
    const generation = isValid ? known.generation : (known?.generation ?? -1) + 1
    const { counts } = isValid ? known : state
    const { start, tail } = mark
    const earlier = known?.startHash === start.hash ? known.finished : undefined
    const mayGrow = isGrowing && (earlier === undefined || hasGrown(stat, earlier))
    const finished = mayGrow ? earlier : { ...stat, path: reference.path }
    const record = { generation, startHash: start.hash, tail, form, counts, finished }
    if (!isValid || this.#isOutdated(reference, known, record)) await this.#add(reference, record)
    return { identity: formatIdentity(reference, record), counts, mayGrow }
  }

  /** Whether the session was ever listed while it was growing. */
  async wasListed(session: SessionReference): Promise<boolean> {
    return (await this.#records.read(session)) !== undefined
  }

  /** Records that the session is listed while it is growing. */
  async recordListed(session: SessionReference): Promise<void> {
    await this.#records.add(session, {})
  }

  async #isValid(
    { path }: GrowingReference,
    known: GrowthRecord,
    { mark, stat, form }: GrowingState,
  ): Promise<boolean> {
    if (known.startHash !== mark.start.hash || known.form !== form) return false
    if (known.finished && !continues({ ...stat, path }, known.finished)) return false
    return this.#hasTail(path, known.tail)
  }

  async #hasTail(path: string, tail: MarkedBytes): Promise<boolean> {
    try {
      const file = await this.#storage.open(path)
      try {
        return await hasBytes(file, tail)
      } finally {
        await file.close()
      }
    } catch (error) {
      // Removed or replaced since it was indexed.
      if (!isAppError(error, 'not_found')) throw error
      return false
    }
  }

  #isOutdated(reference: GrowingReference, known: GrowthRecord, now: GrowthRecord): boolean {
    if (known.finished?.version !== now.finished?.version) return true
    if (known.tail.offset >= now.tail.offset) return false
    const recordedMs = this.#recordedMs.get(recordedKey(reference)) ?? -Infinity
    return performance.now() - recordedMs > RECORD_EVERY_MS
  }

  async #add(reference: GrowingReference, record: GrowthRecord): Promise<void> {
    this.#recordedMs.set(recordedKey(reference), performance.now())
    await this.#records.add(reference.session, { [reference.name]: record })
  }
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

function recordedKey({ session, name }: GrowingReference): string {
  return JSON.stringify([session.streamer, session.date, session.sessionId, name])
}

/** Includes session and name: other recordings may start with the same bytes. */
function formatIdentity(
  { session, name }: GrowingReference,
  { generation, startHash }: GrowthRecord,
): string {
  const { streamer, date, sessionId } = session
  const facts = JSON.stringify(['grown', streamer, date, sessionId, name, generation, startHash])
  return createHash('sha256').update(facts).digest('base64url')
}
