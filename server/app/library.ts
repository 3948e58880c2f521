// Assembles what every command needs of a library: storage, catalog, indexes, HLS.
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createAdmission } from '../admission/limits.ts'
import type { Admission } from '../admission/limits.ts'
import type { SharedArtifacts } from '../artifacts/shared-artifacts.ts'
import { createCatalog } from '../catalog/store/sqlite-catalog.ts'
import { openDatabase } from '../catalog/store/database.ts'
import type { Database } from '../catalog/store/database.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Config } from '../config/load-config.ts'
import type { JobFigures } from '../decoder-child/decoder-pool.ts'
import { createSandbox } from '../decoder-child/sandbox.ts'
import type { Sandbox } from '../decoder-child/sandbox.ts'
import { PartFolders } from '../hls/session/part-folders.ts'
import { inspectSession } from '../hls/session/session-inspection.ts'
import type { InspectedSource, SessionInspection } from '../hls/session/session-inspection.ts'
import { SessionOpener } from '../hls/session/session-opener.ts'
import type { HlsSettings } from '../delivery/encryption.ts'
import { readOrCreateSecret } from '../delivery/secret.ts'
import { TranscodedAudio } from '../hls/segment/transcoded-audio.ts'
import { IndexStore } from '../media/index/index-store.ts'
import { IndexThread } from '../media/index/index-thread.ts'
import { createMediaReaders } from '../media/readers.ts'
import { withRecordedPlaylists } from '../media/recorded/recorded-storage.ts'
import { createAudioTranscoder } from '../audio/audio-transcoder.ts'
import { createStorage } from '../storage/create-storage.ts'
import { FolderThread } from '../storage/folder/folder-thread.ts'
import { isSettled } from '../storage/settled.ts'
import { locationName } from '../storage/storage-location.ts'
import type { StorageLocation } from '../storage/storage-location.ts'
import type { Storage } from '../storage/storage.ts'

/** Catalog file in the data folder. */
export const CATALOG_FILE = 'catalog.sqlite'
/** Younger files may change within the resolution of their times. */
const SHARED_AFTER_SECONDS = 1
/** Watching a bucket loses no changes, and a full rescan lists each folder at a price. */
const OBJECT_RESCAN_SECONDS = 3600

/** An open library; the caller closes it. */
export interface Library {
  /** Name of the folder or prefix of the recordings. */
  name: string
  storage: Storage
  /** Interval of full rescans; default as in `ScannerOptions`. */
  rescanSeconds?: number
  database: Database
  catalog: Catalog
  indexes: IndexStore
  /** What nodes share, if it is configured. */
  artifacts: SharedArtifacts | undefined
  sessions: SessionOpener
  /** The restrictions of child processes that decode. */
  sandbox: Sandbox
  /** Limits of the work of this process. */
  admission: Admission
  inspect(source: InspectedSource, signal: AbortSignal): Promise<SessionInspection>
  figures(): LibraryFigures
  close(): Promise<void>
}

/** Load of an open library at this moment. */
export interface LibraryFigures {
  openRecordings: number
  /** Inspections in the index thread. */
  index: { jobs: number; oldestMs: number }
  transcodes: JobFigures
}

export interface LibraryOptions {
  config: Config
  /** Configured, or of the demo. */
  location: StorageLocation
  /** What nodes share; it is closed with the library. Default nothing. */
  artifacts?: SharedArtifacts | undefined
  /** One process writes the catalog; others read it. */
  mode: 'read' | 'write'
  logger: Logger
  signal: AbortSignal
}

/** @throws AppError `failed` if the data folder or the catalog is unusable */
export async function openLibrary(options: LibraryOptions): Promise<Library> {
  const { config, location, artifacts, mode, logger, signal } = options
  const folderThread = new FolderThread()
  const onSkipped = (reason: string, path: string): void =>
    logger.debug({ path }, `skipped: ${reason}`)
  const files = await createStorage(location, { onSkipped, folderThread })
  const thread = new IndexThread(location)
  const storage = withRecordedPlaylists(files, {
    read: async (path, known) => thread.readPlaylist(path, known),
  })
  // First: it reports an unusable data folder with the system's reason.
  const settings = await readHlsSettings(config, logger)
  const database = openCatalogFile(config, mode)
  const onWriteError = (error: unknown): void =>
    logger.warn({ err: error }, 'an index could not be stored')
  const indexes = createIndexStore(config, { thread, artifacts, onWriteError })
  const sandbox = createSandbox({ log: logger })
  const transcoder = createAudioTranscoder({ log: logger, sandbox })
  const partFolders = new PartFolders(storage)
  const admission = createAdmission()
  const sessions = new SessionOpener({
    storage,
    partFolders,
    indexes,
    readers: createMediaReaders(),
    settings,
    recordFolder: join(config.data, 'indexes'),
    onWriteError,
    settleSeconds: config.library.settleSeconds,
    transcodedAudio: new TranscodedAudio({ transcoder, admission, log: logger, signal }),
    signal,
  })
  return {
    name: locationName(location),
    storage,
    ...(location.kind === 's3' && { rescanSeconds: OBJECT_RESCAN_SECONDS }),
    database,
    catalog: createCatalog(database),
    indexes,
    artifacts,
    sessions,
    sandbox,
    admission,
    inspect: async (source, jobSignal) =>
      inspectSession(source, { storage, indexes, partFolders, signal: jobSignal }),
    figures: () => ({
      openRecordings: files.openFiles,
      index: thread.figures,
      transcodes: transcoder.figures,
    }),
    close: async () => {
      transcoder.close()
      await thread.close()
      await artifacts?.close()
      await folderThread.close()
      database.close()
    },
  }
}

function openCatalogFile({ data, database }: Config, mode: LibraryOptions['mode']): Database {
  const replica = database === undefined ? undefined : 'scan'
  return openDatabase({ path: join(data, CATALOG_FILE), mode, replica })
}

async function readHlsSettings({ data, hls }: Config, logger: Logger): Promise<HlsSettings> {
  const { segmentSeconds, encryption } = hls
  const secret = hls.secret ?? (await readOrCreateSecret(data, (line) => logger.warn(line)))
  return { segmentSeconds, encryption, secret }
}

interface IndexSources {
  thread: IndexThread
  artifacts: SharedArtifacts | undefined
  onWriteError: (error: unknown) => void
}

function createIndexStore(
  { data, library: { settleSeconds } }: Config,
  { thread, artifacts, onWriteError }: IndexSources,
): IndexStore {
  const finalSeconds = Math.max(settleSeconds, SHARED_AFTER_SECONDS)
  return new IndexStore({
    folder: join(data, 'indexes'),
    inspect: async (path, signal, previous) => thread.inspect(path, signal, previous),
    isSettled: (stat) => isSettled(stat, settleSeconds, Date.now()),
    shared: artifacts && {
      artifacts,
      isFinal: (stat) => isSettled(stat, finalSeconds, Date.now()),
    },
    onWriteError,
  })
}
