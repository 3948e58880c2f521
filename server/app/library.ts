// Assembles what every command needs of a library: storage, catalog, indexes, HLS.
import { basename, join } from 'node:path'
import type { Logger } from 'pino'
import { createAdmission } from '../admission/limits.ts'
import type { Admission } from '../admission/limits.ts'
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
import { loadPageCache } from '../storage/page-cache.ts'
import { createFolderStorage } from '../storage/folder-storage.ts'
import type { FolderStorage } from '../storage/folder-storage.ts'
import { FolderThread } from '../storage/folder-thread.ts'
import { isSettled } from '../storage/settled.ts'
import type { Storage } from '../storage/storage.ts'

/** Catalog file in the data folder. */
export const CATALOG_FILE = 'catalog.sqlite'

/** An open library; the caller closes it. */
export interface Library {
  /** Name of the recordings folder. */
  name: string
  storage: Storage
  database: Database
  catalog: Catalog
  indexes: IndexStore
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
  /** Folder of the recordings: configured, or of the demo. */
  recordings: string
  /** One process writes the catalog; others read it. */
  mode: 'read' | 'write'
  logger: Logger
  signal: AbortSignal
}

/** @throws AppError `failed` if the data folder or the catalog is unusable */
export async function openLibrary({
  config,
  recordings,
  mode,
  logger,
  signal,
}: LibraryOptions): Promise<Library> {
  const folderThread = new FolderThread()
  const folder = await openFolder(recordings, folderThread, logger)
  const thread = new IndexThread(recordings)
  const storage = withRecordedPlaylists(folder, {
    read: async (path, known) => thread.readPlaylist(path, known),
  })
  const settings = await readHlsSettings(config, logger)
  const database = openDatabase({ path: join(config.data, CATALOG_FILE), mode })
  const onWriteError = (error: unknown): void =>
    logger.warn({ err: error }, 'an index could not be stored')
  const indexes = createIndexStore(config, thread, onWriteError)
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
    name: basename(recordings),
    storage,
    database,
    catalog: createCatalog(database),
    indexes,
    sessions,
    sandbox,
    admission,
    inspect: async (source, jobSignal) =>
      inspectSession(source, { storage, indexes, partFolders, signal: jobSignal }),
    figures: () => ({
      openRecordings: folder.openFiles,
      index: thread.figures,
      transcodes: transcoder.figures,
    }),
    close: async () => {
      transcoder.close()
      await thread.close()
      await folderThread.close()
      database.close()
    },
  }
}

async function openFolder(
  recordings: string,
  folderThread: FolderThread,
  logger: Logger,
): Promise<FolderStorage> {
  return createFolderStorage(recordings, {
    onSkipped: (reason, path) => logger.debug({ path }, `skipped: ${reason}`),
    pageCache: await loadPageCache(),
    folderThread,
  })
}

async function readHlsSettings({ data, hls }: Config, logger: Logger): Promise<HlsSettings> {
  const { segmentSeconds, encryption } = hls
  const secret = hls.secret ?? (await readOrCreateSecret(data, (line) => logger.warn(line)))
  return { segmentSeconds, encryption, secret }
}

function createIndexStore(
  { data, library: { settleSeconds } }: Config,
  thread: IndexThread,
  onWriteError: (error: unknown) => void,
): IndexStore {
  return new IndexStore({
    folder: join(data, 'indexes'),
    inspect: async (path, signal, previous) => thread.inspect(path, signal, previous),
    isSettled: (stat) => isSettled(stat, settleSeconds, Date.now()),
    onWriteError,
  })
}
