// Sources of thumbnails: an image next to the recording, or its key frames.
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../shared/paths.ts'
import type { Gate } from '../admission/gate.ts'
import type { Admission } from '../admission/limits.ts'
import type { Catalog, SessionRow } from '../catalog/catalog.ts'
import { AppError, isAppError } from '../errors.ts'
import type { SessionOpener } from '../hls/session/session-opener.ts'
import type { FileStat, Storage } from '../storage/storage.ts'
import { findSidecar } from '../thumbnails/sidecar.ts'
import type { Sidecar } from '../thumbnails/sidecar.ts'
import type { StreamerThumbnailSource, ThumbnailSource } from '../thumbnails/thumbnails.ts'

const STREAMER_IMAGES = ['avatar', 'poster']
/** Newest sessions of a streamer that are tried for its thumbnail. */
const MAX_SESSIONS = 8
// A page of cards needs one folder many times. A new image is found after this time.
const MAX_FOLDERS = 1000
const FOLDER_TTL_MS = 5000

export interface ThumbnailSourceOptions {
  catalog: Catalog
  storage: Storage
  sessions: SessionOpener
  admission: Pick<Admission, 'recordings'>
}

export class ThumbnailSources {
  readonly #catalog: Catalog
  readonly #storage: Storage
  readonly #sessions: SessionOpener
  readonly #gate: Gate
  readonly #folders = new LRUCache<string, string[]>({ max: MAX_FOLDERS, ttl: FOLDER_TTL_MS })

  constructor({ catalog, storage, sessions, admission }: ThumbnailSourceOptions) {
    this.#catalog = catalog
    this.#storage = storage
    this.#sessions = sessions
    this.#gate = admission.recordings
  }

  /** Undefined if the session does not exist or is unplayable. */
  async session(
    session: SessionReference,
    signal: AbortSignal,
  ): Promise<ThumbnailSource | undefined> {
    const row = this.#catalog.findSession(session)
    if (row === undefined || row.state.status === 'unplayable') return undefined
    return this.#ofRow(row, signal)
  }

  /** Undefined if the streamer does not exist. */
  async streamer(
    streamer: string,
    signal: AbortSignal,
  ): Promise<StreamerThumbnailSource | undefined> {
    const rows = this.#catalog.newestSessions(streamer, MAX_SESSIONS)
    const [newest] = rows
    if (newest === undefined) return undefined
    const folder = streamerFolder(newest)
    return {
      sidecar: folder === undefined ? undefined : await this.#sidecar(folder, STREAMER_IMAGES),
      sessions: this.#ofRows(rows, signal),
    }
  }

  async *#ofRows(
    rows: readonly SessionRow[],
    signal: AbortSignal,
  ): AsyncGenerator<ThumbnailSource> {
    for (const row of rows) {
      try {
        yield await this.#ofRow(row, signal)
      } catch (error) {
        // Removed or corrupt since it was listed: the next session may have a thumbnail.
        if (!isAppError(error, 'not_found', 'gone', 'unplayable')) throw error
      }
    }
  }

  async #ofRow(row: SessionRow, signal: AbortSignal): Promise<ThumbnailSource> {
    const { folder, base } = splitFileName(row.path)
    const sidecar = await this.#sidecar(folder, [base])
    return this.#gate.run(async () => {
      const opened = await this.#sessions.openListed(row)
      const { key, isFinal, count, read: readKeyFrame } = opened.keyFrames
      await opened.close()
      return { key, isFinal, sidecar, splitPoints: count, readKeyFrame }
    }, signal)
  }

  async #sidecar(folder: string, bases: readonly string[]): Promise<Sidecar | undefined> {
    const names = await this.#names(folder)
    for (const base of bases) {
      const name = findSidecar(names, base)
      if (name !== undefined) return this.#openSidecar(folder === '' ? name : `${folder}/${name}`)
    }
    return undefined
  }

  async #openSidecar(path: string): Promise<Sidecar> {
    const stat = await this.#storage.stat(path)
    const key = versionKey(path, stat)
    return { key, sizeBytes: stat.sizeBytes, read: async () => this.#readWhole(path, key) }
  }

  /** @throws AppError `gone` if the file is not this version any more */
  async #readWhole(path: string, key: string): Promise<Uint8Array> {
    const file = await this.#storage.open(path)
    try {
      if (versionKey(path, file.stat) !== key) throw new AppError('gone', 'the image was replaced')
      const bytes = Buffer.alloc(file.stat.sizeBytes)
      const length = await file.read(bytes, 0)
      await file.checkUnchanged()
      return bytes.subarray(0, length)
    } finally {
      await file.close()
    }
  }

  async #names(folder: string): Promise<string[]> {
    const cached = this.#folders.get(folder)
    if (cached !== undefined) return cached
    const entries = await this.#storage.list(folder)
    const names = entries.filter(({ kind }) => kind === 'file').map(({ name }) => name)
    this.#folders.set(folder, names)
    return names
  }
}

function versionKey(path: string, { version }: FileStat): string {
  return `${version} ${path}`
}

/** The folder with the streamer's name, if the layout has one. */
function streamerFolder({ path, streamer }: SessionRow): string | undefined {
  const folders = path.split('/').slice(0, -1)
  const depth = folders.findIndex((name) => name.normalize('NFC') === streamer)
  return depth === -1 ? undefined : folders.slice(0, depth + 1).join('/')
}

function splitFileName(path: string): { folder: string; base: string } {
  const slash = path.lastIndexOf('/')
  const name = path.slice(slash + 1)
  return { folder: slash === -1 ? '' : path.slice(0, slash), base: name.replace(/\.[^.]*$/, '') }
}
