// Opens sessions for HLS, and tells the catalog how long they are.
import { withTimeout } from '../../../shared/with-timeout.ts'
import { AppError, UnplayableError } from '../../errors.ts'
import type { RecordedStorage } from '../../media/recorded/recorded-storage.ts'
import type { FileStat, OpenFile } from '../../storage/storage.ts'
import { GrowingRecordings } from './growing-recordings.ts'
import { GrowingSessions } from './growing-sessions.ts'
import { mapConcurrently } from './map-concurrently.ts'
import { openRecording } from './open-recording.ts'
import { PartsSession } from './parts-session.ts'
import type { PlayableSession, SessionSource } from './playable-session.ts'
import { NotYetListable, Presenter } from './presenter.ts'
import type { PresenterOptions } from './presenter.ts'
import { longestGrowingSeconds } from '../playlist/segment-plan.ts'
import { joinInspections } from './session-inspection.ts'
import type { SessionInspection } from './session-inspection.ts'
import { SessionFiles } from './session-files.ts'
import type { PartFile } from './session-files.ts'
import { SubtitleFiles } from './subtitle-files.ts'
import { SessionParts } from './session-parts.ts'
import type { FoundParts, Freshness } from './session-parts.ts'
import { ThrottledLookup } from './throttled-lookup.ts'

/** A visitor waits this long for a recording that was never indexed, then is asked to come again. */
const INDEX_WAIT_MS = 8000
/** A session that grows is looked at so often for URLs that this process knows nothing of. */
const MISSED_EVERY_MS = 250

/** What is wanted of a session: the newest playlist, or a file that some playlist listed. */
export type Purpose = 'playlist' | 'file'

export interface PackagerOptions extends Omit<PresenterOptions, 'growing'> {
  storage: RecordedStorage
  /** Where it is kept which sessions were listed while they grew. */
  growingFolder: string
  /** Told when that could not be written; it is tried again. */
  onWriteError: (error: unknown) => void
  /** A recording that has been still for so long counts as finished. */
  settleSeconds: number
}

export class Packager {
  readonly #options: PackagerOptions
  readonly #files: SessionFiles
  readonly #parts: SessionParts
  readonly #sidecars: SubtitleFiles
  readonly #missed = new ThrottledLookup<FoundParts>({ everyMs: MISSED_EVERY_MS })

  constructor(options: PackagerOptions) {
    const { storage, growingFolder: folder, onWriteError, settleSeconds } = options
    const files = new SessionFiles(storage)
    const growing = new GrowingRecordings(storage, new GrowingSessions({ folder, onWriteError }))
    const presenter = new Presenter({ ...options, growing })
    this.#options = options
    this.#files = files
    this.#sidecars = new SubtitleFiles(storage)
    this.#parts = new SessionParts({ presenter, growing, files, settleSeconds })
  }

  /**
   * @throws AppError `not_found` (no file), `unplayable` (with its reason), `gone` (replaced meanwhile),
   *   `busy` (not indexed yet, and indexing goes on; or it has only just begun)
   */
  async open(source: SessionSource, purpose: Purpose): Promise<PlayableSession> {
    try {
      return await this.#open(source, purpose === 'playlist' ? 'recent' : 'known')
    } catch (error) {
      if (purpose === 'playlist' || !(error instanceof NotYetListable)) throw error
    }
    // Whoever asks for a file has a playlist that lists it, maybe from a process that looked later than this one.
    try {
      return await this.#open(source, 'now')
    } catch (error) {
      if (!(error instanceof NotYetListable)) throw error
      throw new AppError('not_found', 'there is no such file', { cause: error })
    }
  }

  /**
   * What there is to tell of a session's recordings: how long they are together, or why none can be played. Of a file
   * whose `stat` is given, as it was then.
   *
   * @throws AppError `not_found`, `gone` (another file than the stat tells of), `failed`, or the signal's reason
   */
  async inspect(
    { path, kind, stat }: Pick<SessionSource, 'path' | 'kind'> & { stat?: FileStat },
    signal: AbortSignal,
  ): Promise<SessionInspection> {
    const { storage, indexes } = this.#options
    const find = async (file: Pick<PartFile, 'name' | 'path' | 'stat'>) => ({
      name: file.name,
      inspection: (await indexes.find(file.path, file.stat, signal)).inspection,
    })
    if (kind === 'file') {
      const known = stat ?? (await storage.stat(path))
      return joinInspections([await find({ name: '', path, stat: known })])
    }
    try {
      return joinInspections(await mapConcurrently(await this.#files.relist(path), find))
    } catch (error) {
      if (!(error instanceof UnplayableError)) throw error
      return { status: 'unplayable', reason: error.reason }
    }
  }

  async #open(source: SessionSource, lookup: Freshness): Promise<PlayableSession> {
    if (source.kind === 'folder') return this.#session(source, await this.#find(source, lookup))
    const { path, file } = await openRecording(this.#options.storage, source.path)
    const renamed = { ...source, path }
    try {
      const found =
        this.#parts.knownFile(renamed, file.stat, lookup) ??
        (await this.#find(renamed, lookup, file.stat))
      return this.#session(renamed, found, file)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #find(source: SessionSource, lookup: Freshness, stat?: FileStat): Promise<FoundParts> {
    const { path, kind } = source
    const find = async (seen?: FileStat): Promise<FoundParts> => {
      if (kind === 'folder') return this.#parts.ofFolder(source, lookup)
      return this.#parts.ofFile(source, seen ?? (await this.#options.storage.stat(path)), lookup)
    }
    const work = async (): Promise<FoundParts> =>
      lookup === 'now' ? this.#missed.lookup(keyOf(source), find) : find(stat)
    return withTimeout(work, { timeoutMs: INDEX_WAIT_MS, reason: stillIndexing })
  }

  #session(
    source: SessionSource,
    { parts, isFresh, isEvent }: FoundParts,
    file?: OpenFile,
  ): PlayableSession {
    const { storage, settings } = this.#options
    const longestSeconds = longestGrowingSeconds(settings.segmentSeconds)
    const lookUpAgain = async (lookup: Freshness) =>
      this.#find(source, lookup).then(({ parts: now }) => now, emptyIfNotYetListable)
    return new PartsSession({
      storage,
      parts,
      isFresh,
      growth: isEvent ? { isEnded: !isFresh, longestSeconds } : undefined,
      ...(file && { file, sidecars: this.#sidecars }),
      ...(isFresh && { lookUpAgain }),
    })
  }
}

function keyOf({ streamer, date, sessionId, path }: SessionSource): string {
  return JSON.stringify([streamer, date, sessionId, path])
}

function emptyIfNotYetListable(error: unknown): [] {
  if (error instanceof NotYetListable) return []
  throw error
}

function stillIndexing(): AppError {
  return new AppError('busy', 'the recording is being indexed; try again in a moment')
}
