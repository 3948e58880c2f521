// Opens sessions: finds their recordings, and whether they are still growing.
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import type { SharedArtifacts } from '../../../storage/artifacts/shared-artifacts.ts'
import type { HlsSettings } from '../../delivery/encryption.ts'
import { AppError, isAppError } from '../../../base/errors.ts'
import type { IndexStore } from '../../../media/index/index-store.ts'
import type { MediaReaders } from '../../../media/readers.ts'
import { isUnchanged } from '../../../storage/recordings/settled.ts'
import type { FileStat, OpenFile, Storage } from '../../../storage/recordings/storage.ts'
import type { FileName } from '../playlist/segment-names.ts'
import { longestGrowingSeconds } from '../playlist/segment-plan.ts'
import { plannedBytes } from '../segment/planned-memory.ts'
import type { TranscodedAudio } from '../segment/transcoded-audio.ts'
import { GrowingIdentities } from './growing-identities.ts'
import { GrowthRecords } from './growth-records.ts'
import { HlsRecordings, NotYetListable } from './hls-recordings.ts'
import type { Freshness, RecordingRequest } from './hls-recordings.ts'
import { mapConcurrently } from './map-concurrently.ts'
import { openRecording } from './open-recording.ts'
import { OpenSession } from './open-session.ts'
import type { HlsFile } from './open-session.ts'
import type { PartFile, PartFolders } from './part-folders.ts'
import { fileRequest, folderRequests, partStartMs, withElapsedStarts } from './part-requests.ts'
import type { ListedRecording } from './session-playlists.ts'
import { ServedIdentities } from './served-identities.ts'
import type { SessionSource } from './session-source.ts'
import { SubtitleFiles } from './subtitle-files.ts'
import type { SubtitleFilesOptions } from './subtitle-files.ts'
import { ThrottledLookup } from './throttled-lookup.ts'

/** Longest wait for a recording that is not indexed yet. */
const INDEX_WAIT_MS = 8000
/** How long the recordings of an unchanged folder are used without a check. */
const FOUND_TTL_MS = 1000
/** As in `HlsRecordings`, which may have evicted them. */
const MAX_FOUND_BYTES = 64 * 1024 * 1024
/** Minimum interval between forced lookups of a session, for files that are not listed here. */
const CURRENT_EVERY_MS = 250

/** What only these folders have: which URLs were given to which bytes. */
export const RECORD_FOLDERS = { growth: 'grown', served: 'served' } as const

/** A URL next to the session's playlist: `{version}/{name}`. */
export interface FileAddress {
  version: string
  /** Undefined for a name that no playlist contains. */
  name: FileName | undefined
  /** Aborted when the request is abandoned. */
  signal?: AbortSignal
  /** Measures a phase from its call to the call of its result: `open`, `file`. */
  startPhase: (this: void, phase: string) => () => void
}

/** A file of a session. The caller closes the session. */
export interface FoundFile {
  file: HlsFile
  session: OpenSession
}

export interface SessionOpenerOptions extends SubtitleFilesOptions {
  storage: Storage
  partFolders: PartFolders
  indexes: IndexStore
  readers: MediaReaders
  settings: HlsSettings
  transcodedAudio: TranscodedAudio
  /** Folder of the records of what was served. */
  recordFolder: string
  /** What nodes share of these records. Default nothing. */
  artifacts?: SharedArtifacts | undefined
  /** Called if such a record could not be written. */
  onWriteError: (error: unknown) => void
  /** A recording without a write for this time counts as finished. */
  settleSeconds: number
  /** Aborted on shutdown. */
  signal: AbortSignal
}

interface FoundRecordings {
  recordings: readonly ListedRecording[]
  /** A recording may still be written to. */
  isGrowing: boolean
  /** The session is, or ever was, listed while it was growing. */
  isEvent: boolean
  /** A recording was left out that may be listed later, although no file changes. */
  isIncomplete: boolean
}

/** The recordings of a folder listing. */
interface KnownRecordings {
  found: FoundRecordings
  checkedMs: number
}

/** Opens the session of a catalog row as it is now. */
export class SessionOpener {
  readonly #options: SessionOpenerOptions
  readonly #growing: GrowingIdentities
  readonly #recordings: HlsRecordings
  readonly #subtitleFiles: SubtitleFiles
  readonly #currentLookups = new ThrottledLookup<FoundRecordings>({ everyMs: CURRENT_EVERY_MS })
  /** By folder listing, which is the same array until the folder changes. */
  readonly #byListing = new LRUCache<readonly PartFile[], KnownRecordings>({
    maxSize: MAX_FOUND_BYTES,
    sizeCalculation: ({ found }) => foundBytes(found),
  })
  readonly #inFlight = new WeakMap<readonly PartFile[], Promise<FoundRecordings>>()

  constructor(options: SessionOpenerOptions) {
    const { storage, recordFolder, artifacts: shared, onWriteError } = options
    const folder = join(recordFolder, RECORD_FOLDERS.growth)
    const records = new GrowthRecords({ folder, shared, onWriteError })
    const growing = new GrowingIdentities(storage, records, onWriteError)
    const servedFolder = join(recordFolder, RECORD_FOLDERS.served)
    const served = new ServedIdentities({ folder: servedFolder, shared, onWriteError })
    this.#options = options
    this.#growing = growing
    this.#recordings = new HlsRecordings({ ...options, growing, served })
    this.#subtitleFiles = new SubtitleFiles(options)
  }

  /**
   * Opens a session for its playlist, which is at most a second old.
   *
   * @throws AppError `not_found` (no file), `unplayable`, `gone` (replaced meanwhile), `busy` (not
   *   indexed yet, or nothing of it can be listed yet)
   */
  async open(source: SessionSource): Promise<OpenSession> {
    return this.#open(source, 'recent')
  }

  /** Opens a session that some process has listed already. @throws AppError as `open` */
  async openListed(source: SessionSource, freshness: Freshness = 'cached'): Promise<OpenSession> {
    try {
      return await this.#open(source, freshness)
    } catch (error) {
      if (!(error instanceof NotYetListable)) throw error
    }
    // The process that listed it may have read the session later than this one.
    return this.#open(source, 'current').catch(throwNotFound)
  }

  /** @throws AppError `not_found` (no such file), and as `open` */
  async openFile(source: SessionSource, address: FileAddress): Promise<FoundFile> {
    const { version, name, startPhase } = address
    const endOpen = startPhase('open')
    // Playlists of renditions must be as recent as the session's own.
    const session = await this.openListed(source, name?.kind === 'playlist' ? 'recent' : 'cached')
    endOpen()
    const endFile = startPhase('file')
    const file = await findOrClose(session, address)
    endFile()
    if (file !== undefined) return { file, session }
    if (name === undefined || !session.mayHaveLater(version, name)) throw noSuchFile()
    // Another process may have listed the file after it was recorded.
    const found = await this.#find(session.source, 'current').catch(throwNotFound)
    const current = this.#createSession(session.source, found)
    const currentFile = await findOrClose(current, address)
    if (currentFile === undefined) throw noSuchFile()
    return { file: currentFile, session: current }
  }

  async #open(source: SessionSource, freshness: Freshness): Promise<OpenSession> {
    if (source.kind === 'folder') {
      return this.#createSession(source, await this.#find(source, freshness))
    }
    const { path, file } = await openRecording(this.#options.storage, source.path)
    const renamed = path === source.path ? source : { ...source, path }
    try {
      const found =
        this.#cachedFile(renamed, file.stat, freshness) ??
        (await this.#find(renamed, freshness, file.stat))
      return this.#createSession(renamed, found, file)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  #createSession(
    source: SessionSource,
    { recordings, isGrowing, isEvent }: FoundRecordings,
    file?: OpenFile,
  ): OpenSession {
    const { storage, settings } = this.#options
    const longestSeconds = longestGrowingSeconds(settings.segmentSeconds)
    const growth = isEvent ? { isEnded: !isGrowing, longestSeconds } : undefined
    const subtitleFiles = source.kind === 'file' ? this.#subtitleFiles : undefined
    const listing = { source, recordings, isGrowing, growth, subtitleFiles }
    return new OpenSession(storage, listing, file)
  }

  /** The recordings of a session, within the time limit. */
  async #find(
    source: SessionSource,
    freshness: Freshness,
    stat?: FileStat,
  ): Promise<FoundRecordings> {
    const find = async (seen?: FileStat): Promise<FoundRecordings> => {
      if (source.kind === 'folder') return this.#findInFolder(source, freshness)
      const current = seen ?? (await this.#options.storage.stat(source.path))
      const request = this.#fileRequest(source, current)
      return inFile(source, request, await this.#recordings.find(request, freshness))
    }
    const work = async (): Promise<FoundRecordings> =>
      freshness === 'current' ? this.#currentLookups.lookup(keyOf(source), find) : find(stat)
    return withTimeout(work, { timeoutMs: INDEX_WAIT_MS, reason: stillIndexing })
  }

  /** As `#find`, synchronously; undefined if that needs a read. */
  #cachedFile(
    source: SessionSource,
    stat: FileStat,
    freshness: Freshness,
  ): FoundRecordings | undefined {
    const request = this.#fileRequest(source, stat)
    if (freshness !== 'cached' && request.state === 'growing') return undefined
    const cached = this.#recordings.cached(request)
    return cached && inFile(source, request, cached)
  }

  #fileRequest(source: SessionSource, stat: FileStat): RecordingRequest {
    const { settleSeconds } = this.#options
    return fileRequest(source, stat, { settleSeconds, nowMs: Date.now() })
  }

  /** @throws AppError the first recording's reason if none is playable */
  async #findInFolder(source: SessionSource, freshness: Freshness): Promise<FoundRecordings> {
    const { partFolders } = this.#options
    const { path } = source
    const files = await (freshness === 'current'
      ? partFolders.listNow(path)
      : partFolders.list(path))
    const known = this.#byListing.get(files)
    if (known !== undefined && (await this.#isCurrent(source, known, freshness))) return known.found
    const flight = this.#inFlight.get(files)
    if (flight !== undefined) return flight
    const finding = this.#findParts(source, files, freshness)
    if (freshness === 'cached') return finding
    this.#inFlight.set(files, finding)
    try {
      const found = await finding
      this.#byListing.set(files, { found, checkedMs: performance.now() })
      return found
    } finally {
      this.#inFlight.delete(files)
    }
  }

  /** While no file changes, only time and the records of other processes can change the result. */
  async #isCurrent(
    source: SessionSource,
    known: KnownRecordings,
    freshness: Freshness,
  ): Promise<boolean> {
    const { found } = known
    const isFinal = !found.isGrowing && !found.isIncomplete
    const isRecent = performance.now() - known.checkedMs < FOUND_TTL_MS
    if (!isFinal || isRecent) return isRecent && freshness !== 'current'
    if ((await this.#growing.wasListed(source)) !== found.isEvent) return false
    known.checkedMs = performance.now()
    return true
  }

  async #findParts(
    source: SessionSource,
    files: readonly PartFile[],
    freshness: Freshness,
  ): Promise<FoundRecordings> {
    const { settleSeconds } = this.#options
    const nowMs = Date.now()
    const isGrowing = !files.every(({ stat }) => isUnchanged(stat, settleSeconds, nowMs))
    const wasListed = await this.#growing.wasListed(source)
    const isEvent = isGrowing || wasListed
    const requests = folderRequests(source, files, { settleSeconds, nowMs, isInEvent: isEvent })
    let all = await this.#findAll(source, requests, freshness)
    // hls.js assumes the container of the first segments for all, and stops at another one. So
    // MPEG-TS next to fMP4 is converted, unless it was already listed.
    const forms = new Set(all.recordings.map(({ recording }) => recording.form))
    if (!isEvent && forms.size > 1) {
      const converted = requests.map((request) => ({ ...request, form: 'fmp4' as const }))
      all = await this.#findAll(source, converted, freshness)
    }
    if (isGrowing && !wasListed) await this.#growing.recordListed(source)
    const { recordings, isIncomplete } = all
    return { recordings: withElapsedStarts(recordings), isGrowing, isEvent, isIncomplete }
  }

  /** All playable recordings. */
  async #findAll(
    source: SessionSource,
    requests: readonly RecordingRequest[],
    freshness: Freshness,
  ): Promise<Pick<FoundRecordings, 'recordings' | 'isIncomplete'>> {
    const reasons: unknown[] = []
    const found = await mapConcurrently(requests, async (request, i) => {
      try {
        const recording = await this.#recordings.find(request, freshness)
        return [{ path: request.path, recording, startMs: partStartMs(source, request, i) }]
      } catch (error) {
        // A part that is corrupt, missing or too short is left out.
        if (!isLeftOut(error)) throw error
        reasons.push(error)
        return []
      }
    })
    const recordings = found.flat()
    if (recordings.length === 0) throw reasons[0]
    const isIncomplete = reasons.some((reason) => !isAppError(reason, 'unplayable'))
    return { recordings, isIncomplete }
  }
}

function foundBytes({ recordings }: FoundRecordings): number {
  return recordings.reduce((sum, { recording }) => sum + plannedBytes(recording.planned), 1)
}

function inFile(
  { path, startMs }: SessionSource,
  { state }: RecordingRequest,
  recording: ListedRecording['recording'],
): FoundRecordings {
  return {
    recordings: [{ path, recording, startMs }],
    isGrowing: state === 'growing',
    isEvent: recording.planned.growth !== undefined,
    isIncomplete: false,
  }
}

async function findOrClose(
  session: OpenSession,
  { version, name, signal }: FileAddress,
): Promise<HlsFile | undefined> {
  let file: HlsFile | undefined
  try {
    file = name && (await session.find(version, name, signal))
    return file
  } finally {
    if (file === undefined) await session.close()
  }
}

function keyOf({ streamer, date, sessionId, path }: SessionSource): string {
  return JSON.stringify([streamer, date, sessionId, path])
}

function isLeftOut(error: unknown): boolean {
  return isAppError(error, 'unplayable', 'not_found', 'gone') || error instanceof NotYetListable
}

function throwNotFound(error: unknown): never {
  throw error instanceof NotYetListable ? noSuchFile(error) : error
}

function noSuchFile(cause?: unknown): AppError {
  return new AppError('not_found', 'there is no such file', { cause })
}

function stillIndexing(): AppError {
  return new AppError('busy', 'the recording is being indexed; try again in a moment')
}
