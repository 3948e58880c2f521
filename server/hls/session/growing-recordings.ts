// Names recordings by what does not change while they grow, and keeps the name for as long as what was listed is there.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../../shared/paths.ts'
import { isAppError } from '../../errors.ts'
import { hasBytes } from '../../media/index/growth-mark.ts'
import type { GrowthMark, MarkedBytes } from '../../media/index/growth-mark.ts'
import type { Storage } from '../../storage/storage.ts'
import type { GrowingRecording, GrowingSessions } from './growing-sessions.ts'
import type { RenditionCounts } from '../playlist/renditions.ts'
import type { SegmentForm } from '../playlist/segment-names.ts'

/** How far a recording has grown is noted so often. */
const NOTE_EVERY_MS = 30_000
const MAX_NOTED = 1000

/** A recording of a session. */
export interface GrowingReference {
  session: SessionReference
  path: string
  /** Tells it from the session's other recordings; stays when the file is renamed. */
  name: string
}

/** A recording as it is now. `begins`: it is listed as growing from now on, if it was not yet. */
export interface GrowingState {
  mark: GrowthMark
  form: SegmentForm
  counts: RenditionCounts
  listing: 'begins' | 'goes on'
}

/** How a recording is named and offered for good. */
export interface GrowingName {
  identity: string
  counts: RenditionCounts
}

export class GrowingRecordings {
  readonly #storage: Storage
  readonly #sessions: GrowingSessions
  readonly #notedMs = new LRUCache<string, number>({ max: MAX_NOTED })

  constructor(storage: Storage, sessions: GrowingSessions) {
    this.#storage = storage
    this.#sessions = sessions
  }

  /**
   * The identity of a recording that is, or once was, listed while it grew: the same in every process, after a restart
   * and under another name. Where other bytes took the place of what was listed, it is another. Undefined: never
   * listed so.
   */
  async identify(
    reference: GrowingReference,
    state: GrowingState,
  ): Promise<GrowingName | undefined> {
    const { mark, form, listing } = state
    const known = (await this.#sessions.find(reference.session))?.[reference.name]
    // The order counts: another process may note more of a longer file at any time, but only of what is there by then.
    const isThere = known !== undefined && (await this.#isThere(reference, known, state))
    if (!isThere && listing === 'goes on') return undefined
    const generation = isThere ? known.generation : (known?.generation ?? -1) + 1
    const { counts } = isThere ? known : state
    const recording = { generation, startHash: mark.start.hash, tail: mark.tail, form, counts }
    if (!isThere || this.#isToBeNoted(reference, known, recording)) {
      await this.#note(reference, recording)
    }
    return { identity: grownIdentity(reference, recording), counts }
  }

  /** Whether a session was ever listed while it grew. */
  async has(session: SessionReference): Promise<boolean> {
    return (await this.#sessions.find(session)) !== undefined
  }

  /** Notes that a session is listed while it grows. */
  async begin(session: SessionReference): Promise<void> {
    await this.#sessions.note(session, {})
  }

  async #isThere(
    { path }: GrowingReference,
    known: GrowingRecording,
    { mark, form }: GrowingState,
  ): Promise<boolean> {
    if (known.startHash !== mark.start.hash || known.form !== form) return false
    return this.#holds(path, known.tail)
  }

  async #holds(path: string, tail: MarkedBytes): Promise<boolean> {
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

  #isToBeNoted(
    reference: GrowingReference,
    known: GrowingRecording,
    now: GrowingRecording,
  ): boolean {
    if (known.tail.offset >= now.tail.offset) return false
    const notedMs = this.#notedMs.get(noteKey(reference)) ?? -Infinity
    return performance.now() - notedMs > NOTE_EVERY_MS
  }

  async #note(reference: GrowingReference, recording: GrowingRecording): Promise<void> {
    this.#notedMs.set(noteKey(reference), performance.now())
    await this.#sessions.note(reference.session, { [reference.name]: recording })
  }
}

function noteKey({ session, name }: GrowingReference): string {
  return JSON.stringify([session.streamer, session.date, session.sessionId, name])
}

/** Parts of one session, and sessions, may begin with the same bytes and go on with others: caches must not mix them up. */
function grownIdentity(
  { session, name }: GrowingReference,
  { generation, startHash }: GrowingRecording,
): string {
  const { streamer, date, sessionId } = session
  const facts = JSON.stringify(['grown', streamer, date, sessionId, name, generation, startHash])
  return createHash('sha256').update(facts).digest('base64url')
}
