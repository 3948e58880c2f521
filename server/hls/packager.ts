// Opens a session for HLS: its recordings as they are now, each with the presentation that belongs to just these bytes.
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../shared/paths.ts'
import { recordingExtension } from '../catalog/layout.ts'
import { startTimeMs } from '../catalog/start-time.ts'
import { AppError, isAppError } from '../errors.ts'
import type { IndexStore } from '../media/index-store.ts'
import type { Inspection } from '../media/inspect-recording.ts'
import { durationSeconds } from '../media/media-index.ts'
import type { MediaReaders } from '../media/readers.ts'
import type { FileStat, Storage } from '../storage/storage.ts'
import type { HlsSettings } from './encryption.ts'
import { PartsSession } from './parts-session.ts'
import type { SessionPart } from './parts-session.ts'
import type { PlayableSession, SessionSource } from './playable-session.ts'
import { createSegmentBodies, Presentation } from './presentation.ts'
import { SessionFiles } from './session-files.ts'
import type { PartFile } from './session-files.ts'
import type { TranscodedSounds } from './transcoded-sound.ts'

/** A visitor waits this long for a recording that was never indexed, then is asked to come again. */
const INDEX_WAIT_MS = 8000
/** A plan takes some kilobytes beside the index, which the store bounds. */
const MAX_PRESENTATIONS = 512
/** Parts of one session indexed at once. */
const PARTS_AT_ONCE = 4

/** What the catalog wants to know of a session. */
export type SessionInspection =
  | { status: 'playable'; durationSeconds: number }
  | Extract<Inspection, { status: 'unplayable' }>

export interface PackagerOptions {
  storage: Storage
  indexes: IndexStore
  readers: MediaReaders
  settings: HlsSettings
  /** Whether a recording has been still for so long that it counts as finished. */
  isSettled: (stat: FileStat) => boolean
  sounds: TranscodedSounds
  /** Ends waiting and indexing when the program ends. */
  signal: AbortSignal
}

export class Packager {
  readonly #options: PackagerOptions
  readonly #presentations = new LRUCache<string, Presentation>({ max: MAX_PRESENTATIONS })
  readonly #bodies = createSegmentBodies()
  readonly #files: SessionFiles
  /** Parts of the listings that are still kept. */
  readonly #parts = new WeakMap<readonly PartFile[], Promise<SessionPart[]>>()

  constructor(options: PackagerOptions) {
    this.#options = options
    this.#files = new SessionFiles(options.storage)
  }

  /**
   * @throws AppError `not_found` (no file), `unplayable` (with its reason), `gone` (replaced meanwhile),
   *   `busy` (not indexed yet; indexing goes on)
   */
  async open(source: SessionSource): Promise<PlayableSession> {
    return source.kind === 'folder' ? this.#openFolder(source) : this.#openFile(source)
  }

  /**
   * What there is to tell of a session's recordings: how long they are together, or why none can be played.
   *
   * @throws AppError `not_found`, `failed`, or the signal's reason
   */
  async inspect(
    { path, kind }: Pick<SessionSource, 'path' | 'kind'>,
    signal: AbortSignal,
  ): Promise<SessionInspection> {
    const { storage, indexes } = this.#options
    if (kind === 'file') {
      return inspectionOf([await indexes.find(path, await storage.stat(path), signal)])
    }
    try {
      const files = await this.#files.list(path)
      const find = async (file: PartFile) => indexes.find(file.path, file.stat, signal)
      return inspectionOf(await mapInTurns(files, find))
    } catch (error) {
      if (!isAppError(error, 'unplayable')) throw error
      return { status: 'unplayable', reason: error.message }
    }
  }

  async #openFile(source: SessionSource): Promise<PlayableSession> {
    const { storage, isSettled } = this.#options
    const { path, startMs } = source
    const file = await storage.open(path)
    try {
      const key = presentationKey(source, path, file.stat)
      const presentation =
        this.#presentations.get(key) ??
        (await withTimeLimit(this.#present(source, path, file.stat)))
      const isFresh = !isSettled(file.stat)
      return new PartsSession({ storage, parts: [{ path, presentation, startMs }], isFresh, file })
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #openFolder(source: SessionSource): Promise<PlayableSession> {
    const { storage, isSettled } = this.#options
    const files = await this.#files.list(source.path)
    const found = this.#parts.get(files) ?? this.#presentParts(source, files)
    this.#parts.set(files, found)
    found.catch(() => this.#parts.delete(files))
    const parts = await withTimeLimit(found)
    return new PartsSession({
      storage,
      parts,
      isFresh: !files.every(({ stat }) => isSettled(stat)),
    })
  }

  /** The parts that can be played. @throws AppError `unplayable` where there is none, with the first one's reason */
  async #presentParts(source: SessionSource, files: PartFile[]): Promise<SessionPart[]> {
    let reason: unknown
    const found = await mapInTurns(files, async (file, i): Promise<SessionPart[]> => {
      try {
        const presentation = await this.#present(source, file.path, file.stat)
        return [{ path: file.path, presentation, startMs: partStartMs(source, file.name, i) }]
      } catch (error) {
        // One damaged part, or one that has just gone, harms no other.
        if (!isAppError(error, 'unplayable', 'not_found', 'gone')) throw error
        reason ??= error
        return []
      }
    })
    const parts = found.flat()
    if (parts.length === 0) throw reason
    return withElapsedStarts(parts)
  }

  async #present(session: SessionReference, path: string, stat: FileStat): Promise<Presentation> {
    const { indexes, readers, settings, sounds, signal } = this.#options
    const { streamer, date, sessionId } = session
    const key = presentationKey(session, path, stat)
    const known = this.#presentations.get(key)
    if (known !== undefined) return known
    const inspection = await indexes.find(path, stat, signal)
    if (inspection.status === 'unplayable') throw new AppError('unplayable', inspection.reason)
    const { identity, index } = inspection
    const reader = readers.forIndex(index)
    const recording = { session: { streamer, date, sessionId }, identity, index, reader, stat }
    const presentation = new Presentation(recording, settings, { bodies: this.#bodies, sounds })
    this.#presentations.set(key, presentation)
    return presentation
  }
}

function presentationKey(session: SessionReference, path: string, stat: FileStat): string {
  const { streamer, date, sessionId } = session
  return JSON.stringify([streamer, date, sessionId, path, stat.sizeBytes, stat.modifiedMs])
}

/** All that plays counts; where nothing does, the first reason is told. */
function inspectionOf(inspections: readonly Inspection[]): SessionInspection {
  let seconds: number | undefined
  for (const inspection of inspections) {
    if (inspection.status === 'playable')
      seconds = (seconds ?? 0) + durationSeconds(inspection.index)
  }
  if (seconds !== undefined) return { status: 'playable', durationSeconds: seconds }
  const unplayable = inspections.find((inspection) => inspection.status === 'unplayable')
  return unplayable ?? { status: 'unplayable', reason: 'the session has no recordings' }
}

/** When a part began: its own name is asked, and for the first what is known of the session. */
function partStartMs({ startMs }: SessionSource, name: string, number: number): number | undefined {
  const fileName = name.slice(0, name.length - (recordingExtension(name)?.length ?? 0))
  return startTimeMs({ date: '', sessionId: '', fileName }) ?? (number === 0 ? startMs : undefined)
}

/** A part whose name says nothing begins where the one before ends. */
function withElapsedStarts(parts: readonly SessionPart[]): SessionPart[] {
  let nextMs: number | undefined
  return parts.map((part) => {
    const startMs = part.startMs ?? nextMs
    nextMs = startMs && startMs + part.presentation.durationSeconds * 1000
    return { ...part, startMs }
  })
}

/** As Promise.all over `work`, with a few under way at once. */
async function mapInTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const turns = items.entries()
  const worker = async (): Promise<void> => {
    for (const [i, item] of turns) results[i] = await work(item, i)
  }
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, worker))
  return results
}

async function withTimeLimit<Value>(promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new AppError('busy', 'the recording is being indexed; try again in a moment'))
    }, INDEX_WAIT_MS)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
