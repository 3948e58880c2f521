// Sources of thumbnails: an image next to the recording, or its key frames.
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../shared/paths.ts'
import type { Catalog, SessionRow } from '../catalog/catalog.ts'
import { isAppError } from '../errors.ts'
import type { SessionOpener } from '../hls/session/session-opener.ts'
import type { Storage } from '../storage/storage.ts'
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
}

export class ThumbnailSources {
  readonly #catalog: Catalog
  readonly #storage: Storage
  readonly #sessions: SessionOpener
  readonly #folders = new LRUCache<string, string[]>({ max: MAX_FOLDERS, ttl: FOLDER_TTL_MS })

  constructor({ catalog, storage, sessions }: ThumbnailSourceOptions) {
    this.#catalog = catalog
    this.#storage = storage
    this.#sessions = sessions
  }

  /** Undefined if the session does not exist or is unplayable. */
  async session(session: SessionReference): Promise<ThumbnailSource | undefined> {
    const row = this.#catalog.findSession(session)
    return row === undefined || row.state.status === 'unplayable' ? undefined : this.#ofRow(row)
  }

  /** Undefined if the streamer does not exist. */
  async streamer(streamer: string): Promise<StreamerThumbnailSource | undefined> {
    const rows = this.#catalog.newestSessions(streamer, MAX_SESSIONS)
    const [newest] = rows
    if (newest === undefined) return undefined
    const folder = streamerFolder(newest)
    return {
      sidecar: folder === undefined ? undefined : await this.#sidecar(folder, STREAMER_IMAGES),
      sessions: this.#ofRows(rows),
    }
  }

  async *#ofRows(rows: readonly SessionRow[]): AsyncGenerator<ThumbnailSource> {
    for (const row of rows) {
      try {
        yield await this.#ofRow(row)
      } catch (error) {
        // Removed or corrupt since it was listed: the next session may have a thumbnail.
        if (!isAppError(error, 'not_found', 'gone', 'unplayable')) throw error
      }
    }
  }

  async #ofRow(row: SessionRow): Promise<ThumbnailSource> {
    const { folder, base } = splitFileName(row.path)
    const sidecar = await this.#sidecar(folder, [base])
    const opened = await this.#sessions.openListed(row)
    const { key, count, read: readKeyFrame } = opened.keyFrames
    await opened.close()
    return { key, sidecar, splitPoints: count, readKeyFrame }
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
    const { sizeBytes } = await this.#storage.stat(path)
    return { sizeBytes, read: async () => this.#readWhole(path, sizeBytes) }
  }

  async #readWhole(path: string, sizeBytes: number): Promise<Uint8Array> {
    const file = await this.#storage.open(path)
    try {
      const bytes = Buffer.alloc(sizeBytes)
      return bytes.subarray(0, await file.read(bytes, 0))
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
