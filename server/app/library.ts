// Assembles what every command needs of a library: storage, catalog, indexes, HLS.
import { join } from 'node:path'
import type { NetworkCounter } from './network-bytes.ts'
import type { Logger } from 'pino'
import type { Gate } from '../base/admission/gate.ts'
import { createAdmission, MIN_PLAYLIST_BYTES } from '../base/admission/limits.ts'
import type { Admission } from '../base/admission/limits.ts'
import type { Pacing } from '../base/admission/egress.ts'
import type { EncodeSlots } from '../base/admission/encode-slots.ts'
import type { SharedArtifacts } from '../storage/artifacts/shared-artifacts.ts'
import { createCatalog } from '../library/catalog/store/sqlite-catalog.ts'
import { openDatabase } from '../library/catalog/store/database.ts'
import type { Database, DatabaseOptions } from '../library/catalog/store/database.ts'
import type { Catalog } from '../library/catalog/catalog.ts'
import type { Config } from '../base/config/load-config.ts'
import { hasDecoderPackage } from '../decode/child/decoder-package.ts'
import { NO_JOBS } from '../decode/child/decoder-pool.ts'
import type { JobFigures } from '../decode/child/decoder-pool.ts'
import { createSandbox } from '../decode/child/sandbox.ts'
import type { Sandbox } from '../decode/child/sandbox.ts'
import { PartFolders } from '../stream/hls/session/part-folders.ts'
import { inspectSession } from '../stream/hls/session/session-inspection.ts'
import type {
  InspectedSource,
  SessionInspection,
} from '../stream/hls/session/session-inspection.ts'
import { SessionOpener } from '../stream/hls/session/session-opener.ts'
import type { HlsSettings } from '../stream/delivery/encryption.ts'
import { readOrCreateSecret } from '../stream/delivery/secret.ts'
import type { EncodingNodes } from '../stream/hls/segment/encoded-video.ts'
import { TranscodedAudio } from '../stream/hls/segment/transcoded-audio.ts'
import { IndexStore } from '../media/index/index-store.ts'
import type { IndexStoreOptions } from '../media/index/index-store.ts'
import { IndexThread } from '../media/index/index-thread.ts'
import { ChatFiles } from '../library/metadata/chat-files.ts'
import { ContainerChapters } from '../library/metadata/container-chapters.ts'
import { Sidecars } from '../library/metadata/sidecars.ts'
import type { SidecarsOptions } from '../library/metadata/sidecars.ts'
import { isChat } from '../media/chat/read-chat.ts'
import type { ChatJob, ChatOutcome } from '../media/chat/read-chat.ts'
import { createMediaReaders } from '../media/readers.ts'
import type { PlaylistRequest } from '../media/recorded/recorded-lists.ts'
import { withRecordedPlaylists } from '../media/recorded/recorded-storage.ts'
import type { RecordedStorage } from '../media/recorded/recorded-storage.ts'
import { createChatReader } from '../decode/chat/chat-reader.ts'
import { createAudioTranscoder } from '../decode/audio/audio-transcoder.ts'
import type { AudioTranscoder } from '../decode/audio/audio-transcoder.ts'
import { createStorage } from '../storage/recordings/create-storage.ts'
import { FolderThread } from '../storage/recordings/folder/folder-thread.ts'
import { isSettled } from '../storage/recordings/settled.ts'
import { formatLocation, locationName } from '../storage/recordings/storage-location.ts'
import type { StorageLocation } from '../storage/recordings/storage-location.ts'
import type { LibraryStorage } from '../storage/recordings/storage.ts'
import { openEncodedVideo } from './encoded-video.ts'
import type { OpenEncodedVideo } from './encoded-video.ts'
import type { Io } from './io.ts'

/** Catalog file in the data folder. */
export const CATALOG_FILE = 'catalog.sqlite'
export const INDEX_FOLDER = 'indexes'
const UPGRADE_GUIDE = 'docs/deploy/upgrade.md'
/** Younger files may change within the resolution of their times. */
const SHARED_AFTER_SECONDS = 1
/** Watching a bucket loses no changes, and a full rescan lists each folder at a price. */
const OBJECT_RESCAN_SECONDS = 3600
/** Of a process that inspects recordings and serves none: growing ones are inspected again. */
const SCANNER_INDEX_BYTES = 8 * 1024 * 1024
/** An inspection waits for the bucket most of the time. */
const OBJECT_INSPECTIONS = 4

/** An open library; the caller closes it. */
export interface Library {
  /** Name of the folder or prefix of the recordings. */
  name: string
  /** Folder or URL of the recordings. */
  location: string
  storage: RecordedStorage
  /** See `LibraryStorage`. */
  hasContent: LibraryStorage['hasContent']
  /** Interval of full rescans; default as in `ScannerOptions`. */
  rescanSeconds?: number
  /** Inspections that run at once. */
  inspectionsAtOnce: number
  database: Database
  catalog: Catalog
  indexes: IndexStore
  /** What nodes share, if it is configured. */
  artifacts: SharedArtifacts | undefined
  sessions: SessionOpener
  sidecars: Sidecars
  containerChapters: ContainerChapters
  chatFiles: ChatFiles
  /** Reads chat files in a child process, when there is room for it. */
  readChat(this: void, job: ChatJob): Promise<ChatOutcome>
  /** Whether images and audio can be decoded: their package is optional. */
  hasDecoders: boolean
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
  encodes: JobFigures
  /** Processor time of these jobs. */
  encodeSeconds: number
}

export interface LibraryOptions {
  config: Config
  /** Configured, or of the demo. */
  location: StorageLocation
  /** What nodes share; it is closed with the library. Default nothing. */
  artifacts?: SharedArtifacts | undefined
  /**
   * One process writes the catalog; others read it. `private` writes nothing to the data folder: a
   * temporary catalog, and indexes that are only read.
   */
  mode: 'read' | 'write' | 'private'
  /** As in `IndexStoreOptions`. */
  awaitIndex?: IndexStoreOptions['awaitIndex']
  /** Shared with other processes. Default those of this process. */
  encodeSlots?: EncodeSlots | undefined
  /** Default none: this node encodes. */
  encodingNodes?: EncodingNodes | undefined
  logger: Logger
  signal: AbortSignal
}

/** @throws AppError `failed` if the data folder or the catalog is unusable */
export async function openLibrary(options: LibraryOptions): Promise<Library> {
  const { config, location, artifacts, mode, awaitIndex, logger, signal } = options
  const folderThread = new FolderThread()
  const files = await createStorage(location, { onSkipped: logSkipped(logger), folderThread })
  const thread = new IndexThread(location)
  const admission = createAdmission()
  const read = createPlaylistReader(thread, admission.playlistBytes, signal)
  const storage = withRecordedPlaylists(files, { read })
  // First: it reports an unusable data folder with the system's reason.
  const settings = await readHlsSettings(config, { mode, logger })
  const database = openCatalogFile(options)
  const onWriteError = (error: unknown): void =>
    logger.warn({ err: error }, 'an index could not be stored')
  const sources = { mode, awaitIndex, storage, thread, artifacts, onWriteError }
  const indexes = createIndexStore(config, { ...sources, gate: admission.index })
  const { transcoder, ...decoders } = openDecoders(logger)
  const encoding = openEncoding(options, decoders)
  const chatReader = createChatReader(files, { log: logger, sandbox: decoders.sandbox })
  const partFolders = new PartFolders(storage)
  const sessions = new SessionOpener({
    storage,
    partFolders,
    indexes,
    readers: createMediaReaders(),
    readSubtitles: async (file) =>
      admission.sidecars.run(async () => thread.readSubtitles(file), signal),
    settings,
    recordFolder: join(config.data, INDEX_FOLDER),
    onWriteError,
    settleSeconds: config.library.settleSeconds,
    transcodedAudio: new TranscodedAudio({ transcoder, admission, log: logger, artifacts, signal }),
    encodedVideo: encoding?.encodedVideo,
    artifacts,
    signal,
  })
  return {
    ...describeLocation(location, files),
    storage,
    database,
    catalog: createCatalog(database),
    indexes,
    artifacts,
    sessions,
    ...createMetadata({ storage: files, gate: admission.sidecars, log: logger }, thread, signal),
    readChat: async (job) => admission.chats.run(async () => chatReader.read(job, signal), signal),
    ...decoders,
    admission,
    inspect: async (source, jobSignal) =>
      inspectSession(source, { storage, indexes, partFolders, signal: jobSignal }),
    figures: () => ({
      openRecordings: files.openFiles,
      index: thread.figures,
      ...jobFigures(transcoder, encoding),
    }),
    close: async () => {
      for (const child of [transcoder, encoding?.encoder, chatReader]) child?.close()
      for (const part of [thread, artifacts, folderThread]) await part?.close()
      database.close()
    },
  }
}

function jobFigures(
  transcoder: AudioTranscoder | undefined,
  encoding: OpenEncodedVideo | undefined,
): Omit<LibraryFigures, 'openRecordings' | 'index'> {
  return {
    transcodes: transcoder?.figures ?? NO_JOBS,
    encodes: encoding?.encoder.figures ?? NO_JOBS,
    encodeSeconds: (encoding?.encodedVideo.spentMs ?? 0) / 1000,
  }
}

function createPlaylistReader(thread: IndexThread, gate: Gate, signal: AbortSignal) {
  return async ({ path, known, sizeBytes }: PlaylistRequest) =>
    gate.run(
      async () => thread.readPlaylist(path, known),
      signal,
      Math.max(sizeBytes, MIN_PLAYLIST_BYTES),
    )
}

function describeLocation(location: StorageLocation, storage: LibraryStorage) {
  return {
    hasContent: async (signal?: AbortSignal) => storage.hasContent(signal),
    name: locationName(location),
    location: formatLocation(location),
    ...(location.kind === 's3' && { rescanSeconds: OBJECT_RESCAN_SECONDS }),
    inspectionsAtOnce: location.kind === 's3' ? OBJECT_INSPECTIONS : 1,
  }
}

function openDecoders(logger: Logger) {
  const sandbox = createSandbox({ log: logger })
  const hasDecoders = hasDecoderPackage()
  const transcoder = hasDecoders ? createAudioTranscoder({ log: logger, sandbox }) : undefined
  return { hasDecoders, sandbox, transcoder }
}

/** A private library serves nothing. */
function openEncoding(
  options: LibraryOptions,
  { hasDecoders, sandbox }: Pick<Library, 'hasDecoders' | 'sandbox'>,
): OpenEncodedVideo | undefined {
  const canEncode = hasDecoders && options.mode !== 'private'
  return openEncodedVideo({ ...options, sandbox: canEncode ? sandbox : undefined })
}

function logSkipped(logger: Logger): (reason: string, path: string) => void {
  return (reason, path) => logger.debug({ path }, `skipped: ${reason}`)
}

function createMetadata(options: SidecarsOptions, thread: IndexThread, signal: AbortSignal) {
  const read = async (path: string) => thread.readChapters(path)
  return {
    sidecars: new Sidecars(options),
    containerChapters: new ContainerChapters({ read, gate: options.gate, signal }),
    chatFiles: new ChatFiles({ ...options, isChat }),
  }
}

function openCatalogFile({ config, mode, logger }: LibraryOptions): Database {
  if (mode === 'private') return openDatabase({ path: '', mode: 'write' })
  const { data, database } = config
  const replica = database === undefined ? undefined : 'scan'
  return openDatabase({ path: join(data, CATALOG_FILE), mode, replica, ...logCopy(config, logger) })
}

/** Logs how to roll back. */
export function logCopy({ database }: Config, logger: Logger): Pick<DatabaseOptions, 'onCopied'> {
  const way =
    database === undefined
      ? 'put it in the place of catalog.sqlite'
      : 'restore the dump of the database, and remove catalog.sqlite'
  const line = `the catalog was copied before its migration; to roll back, ${way}`
  return { onCopied: (copy) => logger.info({ copy }, `${line} (${UPGRADE_GUIDE})`) }
}

async function readHlsSettings(
  { data, hls }: Config,
  { mode, logger }: Pick<LibraryOptions, 'mode' | 'logger'>,
): Promise<HlsSettings> {
  const { segmentSeconds, startSegmentSeconds, encryption } = hls
  // A private library serves nothing.
  const read = async (): Promise<string> =>
    mode === 'private' ? '' : readOrCreateSecret(data, (line) => logger.warn(line))
  const secret = hls.secret ?? (await read())
  return { segmentSeconds, startSegmentSeconds, encryption, secret }
}

interface IndexSources extends Pick<LibraryOptions, 'mode' | 'awaitIndex'> {
  storage: RecordedStorage
  thread: IndexThread
  gate: Gate
  artifacts: SharedArtifacts | undefined
  onWriteError: (error: unknown) => void
}

function createIndexStore(
  { data, library: { settleSeconds }, server: { workers } }: Config,
  { mode, awaitIndex, storage, thread, gate, artifacts, onWriteError }: IndexSources,
): IndexStore {
  const finalSeconds = Math.max(settleSeconds, SHARED_AFTER_SECONDS)
  return new IndexStore({
    folder: join(data, INDEX_FOLDER),
    access: mode === 'private' ? 'read' : 'write',
    maxMemoryBytes: mode === 'write' && workers > 1 ? SCANNER_INDEX_BYTES : undefined,
    inspect: async (path, signal, previous) =>
      storage.withRanges(path, async (ranges) =>
        gate.run(async () => thread.inspect(path, signal, { previous, ranges }), signal),
      ),
    awaitIndex,
    isSettled: (stat) => isSettled(stat, settleSeconds, Date.now()),
    shared: artifacts && {
      artifacts,
      isFinal: (stat) => isSettled(stat, finalSeconds, Date.now()),
    },
    onWriteError,
  })
}

/** What serving needs: a single process, the scanning primary, and the workers. */
export interface Serving {
  config: Config
  io: Io
  logger: Logger
  library: Library
  /** Default unlimited. */
  pacing?: Pacing | undefined
  /** Default none: this node encodes. */
  encodes?: (EncodingNodes & { run(signal: AbortSignal): Promise<void> }) | undefined
  /** Default nothing is counted. */
  networks?: NetworkCounter | undefined
}
