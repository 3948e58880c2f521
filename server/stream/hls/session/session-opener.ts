// Opens sessions, and finds the files in them, within a time limit.
import { join } from 'node:path'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import type { SharedArtifacts } from '../../../storage/artifacts/shared-artifacts.ts'
import type { HlsSettings } from '../../delivery/encryption.ts'
import { AppError } from '../../../base/errors.ts'
import type { IndexStore } from '../../../media/index/index-store.ts'
import type { MediaReaders } from '../../../media/readers.ts'
import type { FileStat, OpenFile, Storage } from '../../../storage/recordings/storage.ts'
import type { FileName } from '../playlist/segment-names.ts'
import { longestGrowingSeconds } from '../playlist/segment-plan.ts'
import type { EncodedVideo } from '../segment/encoded-video.ts'
import type { TranscodedAudio } from '../segment/transcoded-audio.ts'
import { FileSessions } from './file-sessions.ts'
import { FolderSessions } from './folder-sessions.ts'
import { CURRENT_EVERY_MS } from './freshness.ts'
import type { Freshness } from './freshness.ts'
import { GrowingIdentities } from './growing-identities.ts'
import { GrowthRecords } from './growth-records.ts'
import { HlsRecordings, NotYetListable } from './hls-recordings.ts'
import { openRecording } from './open-recording.ts'
import { OpenSession } from './open-session.ts'
import type { HlsFile } from './open-session.ts'
import type { PartFolders } from './part-folders.ts'
import type { FoundRecordings } from './session-playlists.ts'
import { ServedIdentities } from './served-identities.ts'
import type { SessionSource } from './session-source.ts'
import { SubtitleFiles } from './subtitle-files.ts'
import type { SubtitleFilesOptions } from './subtitle-files.ts'
import { ThrottledLookup } from './throttled-lookup.ts'

/** Longest wait for a recording that is not indexed yet. */
const INDEX_WAIT_MS = 8000

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
  /** Default nothing is encoded. */
  encodedVideo?: EncodedVideo | undefined
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

/** Opens the session of a catalog row as it is now. */
export class SessionOpener {
  readonly #options: SessionOpenerOptions
  readonly #files: FileSessions
  readonly #folders: FolderSessions
  readonly #subtitleFiles: SubtitleFiles
  readonly #currentLookups = new ThrottledLookup<FoundRecordings>({ everyMs: CURRENT_EVERY_MS })

  constructor(options: SessionOpenerOptions) {
    const { storage, recordFolder, artifacts: shared, onWriteError } = options
    const folder = join(recordFolder, RECORD_FOLDERS.growth)
    const records = new GrowthRecords({ folder, shared, onWriteError })
    const growing = new GrowingIdentities(storage, records, onWriteError)
    const servedFolder = join(recordFolder, RECORD_FOLDERS.served)
    const served = new ServedIdentities({ folder: servedFolder, shared, onWriteError })
    this.#options = options
    const recordings = new HlsRecordings({ ...options, growing, served })
    this.#files = new FileSessions({ ...options, recordings })
    this.#folders = new FolderSessions({ ...options, recordings, growing })
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
        this.#files.cached(renamed, file.stat, freshness) ??
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
    const find = async (seen?: FileStat): Promise<FoundRecordings> =>
      source.kind === 'folder'
        ? this.#folders.find(source, freshness)
        : this.#files.find(source, freshness, seen)
    const work = async (): Promise<FoundRecordings> =>
      freshness === 'current' ? this.#currentLookups.lookup(keyOf(source), find) : find(stat)
    return withTimeout(work, { timeoutMs: INDEX_WAIT_MS, reason: stillIndexing })
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

function throwNotFound(error: unknown): never {
  throw error instanceof NotYetListable ? noSuchFile(error) : error
}

function noSuchFile(cause?: unknown): AppError {
  return new AppError('not_found', 'there is no such file', { cause })
}

function stillIndexing(): AppError {
  return new AppError('busy', 'the recording is being indexed; try again in a moment')
}
