// The audio files of sessions. What such a file needs of each segment is measured once, in the
// background, one recording after the other, and stored.
import { LRUCache } from 'lru-cache'
import { closingAsync } from '../../../base/closing.ts'
import { sessionKey } from '../../../../shared/paths.ts'
import type { Admission } from '../../../base/admission/limits.ts'
import { AppError, isAppError } from '../../../base/errors.ts'
import { ArtifactCache, cachedArtifact } from '../../../storage/artifacts/artifact-cache.ts'
import type {
  ArtifactCacheOptions,
  CachedArtifact,
} from '../../../storage/artifacts/artifact-cache.ts'
import { LimitedFolder } from '../../../storage/artifacts/limited-folder.ts'
import { SOUND } from '../playlist/segment-names.ts'
import { audioFileName, createAudioFile } from './audio-file.ts'
import type { AudioFile } from './audio-file.ts'
import { decodeAudioTable, encodeAudioTable, measureAudio } from './audio-table.ts'
import type { AudioTable, SoleRecording } from './audio-table.ts'
import type { OpenSession } from './open-session.ts'
import type { SessionOpener } from './session-opener.ts'
import type { SessionSource } from './session-source.ts'

/** In the name of shared tables: increment it when their format changes. */
const ARTIFACT_KIND = 'audio-table-1'
/** A day in segments of 6 s takes 170 kB, and a subfolder has a 256th of this. */
const MAX_STORED_BYTES = 256 * 1024 * 1024
/** Sessions that wait to be measured: those of two feeds. */
const MAX_WAITING = 100
/** A session that could not be measured is tried again after this time. */
const RETRY_MS = 3_600_000
const MAX_FAILED = 1000

export interface AudioFilesOptions extends Pick<ArtifactCacheOptions, 'shared' | 'log'> {
  sessions: SessionOpener
  admission: Pick<Admission, 'recordings'>
  /** Of the tables of this machine. */
  folder: string
}

/** What a feed has of a file. */
export type AudioFileFacts = Pick<AudioFile, 'name' | 'sizeBytes'>

/** An audio file with its session, which the caller closes. */
export interface OpenAudioFile {
  audio: AudioFile
  session: OpenSession
}

export class AudioFiles {
  readonly #options: AudioFilesOptions
  readonly #tables: ArtifactCache
  readonly #waiting = new Map<string, SessionSource>()
  readonly #failed = new LRUCache<string, true>({ max: MAX_FAILED, ttl: RETRY_MS })
  readonly #closing = new AbortController()
  #work: Promise<void> | undefined

  constructor(options: AudioFilesOptions) {
    this.#options = options
    const folder = new LimitedFolder({ folder: options.folder, maxBytes: MAX_STORED_BYTES })
    this.#tables = new ArtifactCache({ ...options, folder, kind: ARTIFACT_KIND })
  }

  /**
   * `later`: the session has not ended, or is not measured yet. Undefined if it has no such file.
   *
   * @throws AppError as `SessionOpener.openListed`; the signal's reason
   */
  async describe(
    source: SessionSource,
    signal: AbortSignal,
  ): Promise<AudioFileFacts | 'later' | undefined> {
    const { sessions, admission } = this.#options
    return admission.recordings.run(async () => {
      const session = await sessions.openListed(source)
      await using _closing = closingAsync(session)
      if (session.isGrowing) return 'later'
      const found = await this.#find(session, signal)
      return found === 'later' ? found : found && { name: found.name, sizeBytes: found.sizeBytes }
    }, signal)
  }

  /** @throws AppError `not_found`, `busy` (not measured yet), and as `describe` */
  async open(source: SessionSource, name: string, signal: AbortSignal): Promise<OpenAudioFile> {
    const session = await this.#options.sessions.openListed(source)
    try {
      const found = await this.#find(session, signal, name)
      if (found === undefined) throw new AppError('not_found', 'there is no such file')
      if (found === 'later') throw new AppError('busy', 'the file is not ready; try again later')
      return { audio: found, session }
    } catch (error) {
      await session.close()
      throw error
    }
  }

  /** Ends what is being measured. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#work
  }

  /** @param wanted only the file of this name */
  async #find(
    session: OpenSession,
    signal: AbortSignal,
    wanted?: string,
  ): Promise<AudioFile | 'later' | undefined> {
    const source = await session.soleRecording()
    if (source === undefined) return undefined
    const name = audioFileName(source.recording)
    if (name === undefined || (wanted !== undefined && wanted !== name)) return undefined
    const table = await this.#readTable(source, name, signal)
    if (table !== undefined) return createAudioFile(source, table)
    return this.#enqueue(session.source) ? 'later' : undefined
  }

  async #readTable(
    { recording }: SoleRecording,
    name: string,
    signal: AbortSignal,
  ): Promise<AudioTable | undefined> {
    const { length } = recording.planOf(SOUND).segments
    return this.#tables.find(tableFile(name), (bytes) => decodeAudioTable(bytes, length), signal)
  }

  /** False if it was tried in vain. While too many wait, it has to be requested again. */
  #enqueue(source: SessionSource): boolean {
    const key = sessionKey(source)
    if (this.#failed.has(key)) return false
    if (this.#waiting.size < MAX_WAITING) this.#waiting.set(key, source)
    this.#work ??= this.#measureAll()
    return true
  }

  /** Never rejects. */
  async #measureAll(): Promise<void> {
    for (const [key, source] of this.#waiting) {
      try {
        await this.#measure(source)
      } catch (error) {
        if (this.#closing.signal.aborted) return
        this.#failed.set(key, true)
        // Removed or replaced since: it is listed no more, or will be requested again.
        if (!isAppError(error, 'not_found', 'gone', 'unplayable')) {
          this.#options.log?.warn({ err: error, session: key }, 'an audio file cannot be measured')
        }
      }
      this.#waiting.delete(key)
    }
    this.#work = undefined
  }

  async #measure(source: SessionSource): Promise<void> {
    const { sessions, admission } = this.#options
    const { signal } = this.#closing
    await admission.recordings.run(async () => {
      const session = await sessions.openListed(source)
      await using _closing = closingAsync(session)
      const sole = await session.soleRecording()
      if (sole === undefined) return
      const name = audioFileName(sole.recording)
      if (name === undefined || (await this.#readTable(sole, name, signal))) return
      await this.#tables.add(tableFile(name), encodeAudioTable(await measureAudio(sole, signal)))
    }, signal)
  }
}

function tableFile(name: string): CachedArtifact {
  return cachedArtifact(ARTIFACT_KIND, [name], 'bin')
}
