// Sources of thumbnails: an image next to the recording, or its key frames.
import { LRUCache } from 'lru-cache'
import { closingAsync } from '../../../base/closing.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { Gate } from '../../../base/admission/gate.ts'
import type { Admission } from '../../../base/admission/limits.ts'
import type { Catalog, SessionRow } from '../../../library/catalog/catalog.ts'
import { AppError, isAppError } from '../../../base/errors.ts'
import type { SessionOpener } from '../../../stream/hls/session/session-opener.ts'
import { streamerFolder } from '../../../library/metadata/sidecar-files.ts'
import type { FileStat, Storage } from '../../../storage/recordings/storage.ts'
import { fitImage } from '../../../decode/thumbnails/fit-image.ts'
import { THUMBNAIL_BOUNDS } from '../../../decode/thumbnails/render-message.ts'
import { sidecarSize } from '../../../decode/thumbnails/sidecar-size.ts'
import type { ImageSize } from '../../../decode/thumbnails/sidecar-size.ts'
import { findSidecar } from '../../../decode/thumbnails/sidecar.ts'
import type { Sidecar } from '../../../decode/thumbnails/sidecar.ts'
import type {
  StreamerThumbnailSource,
  ThumbnailSource,
} from '../../../decode/thumbnails/thumbnails.ts'

const STREAMER_IMAGES = ['avatar', 'poster']
/** Newest sessions of a streamer that are tried for its thumbnail. */
const MAX_SESSIONS = 8
/** Files of all cached folders. A page of cards needs one folder many times. */
const MAX_NAMES = 250_000
/** A new image is found after this time. */
const FOLDER_TTL_MS = 5000

export interface ThumbnailSourceOptions {
  catalog: Pick<Catalog, 'findSession' | 'newestSessions'>
  storage: Pick<Storage, 'list' | 'open' | 'stat'>
  sessions: Pick<SessionOpener, 'openListed'>
  admission: Pick<Admission, 'recordings'>
}

export class ThumbnailSources {
  readonly #catalog: ThumbnailSourceOptions['catalog']
  readonly #storage: ThumbnailSourceOptions['storage']
  readonly #sessions: ThumbnailSourceOptions['sessions']
  readonly #gate: Gate
  readonly #folders = new LRUCache<string, string[]>({
    maxSize: MAX_NAMES,
    // A folder with more is cached alone: it takes longest to list.
    sizeCalculation: (names) => Math.min(names.length + 1, MAX_NAMES),
    ttl: FOLDER_TTL_MS,
    // Also if others have taken its place.
    ignoreFetchAbort: true,
    fetchMethod: async (folder) => {
      const entries = await this.#storage.list(folder)
      return entries.filter(({ kind }) => kind === 'file').map(({ name }) => name)
    },
  })

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

  /** Whether the folder of a streamer has an avatar. @throws AppError `not_found`, `busy` */
  async hasAvatar(folder: string): Promise<boolean> {
    return findSidecar(await this.#names(folder), 'avatar') !== undefined
  }

  /**
   * Size of a session's thumbnail, which is not rendered for it; undefined if it has none. That of
   * an anamorphic recording is approximate where the container does not have its aspect ratio.
   *
   * @throws AppError; the signal's reason
   */
  async sessionImageSize(row: SessionRow, signal: AbortSignal): Promise<ImageSize | undefined> {
    const { folder, base } = splitFileName(row.path)
    const sidecar = await this.#sidecar(folder, [base])
    const own = sidecar && (await sidecarSize(sidecar))
    return own ?? this.#gate.run(async () => this.#frameSize(row), signal)
  }

  /** Size of a streamer's thumbnail; undefined if it has none. @throws as `sessionImageSize` */
  async streamerImageSize(streamer: string, signal: AbortSignal): Promise<ImageSize | undefined> {
    const rows = this.#catalog.newestSessions(streamer, MAX_SESSIONS)
    const folder = rows[0] && streamerFolder(rows[0])
    const sidecar = folder === undefined ? undefined : await this.#sidecar(folder, STREAMER_IMAGES)
    const own = sidecar && (await sidecarSize(sidecar))
    if (own !== undefined) return own
    for (const row of rows) {
      const size = await this.sessionImageSize(row, signal)
      if (size !== undefined) return size
    }
    return undefined
  }

  async #frameSize(row: SessionRow): Promise<ImageSize | undefined> {
    const opened = await this.#sessions.openListed(row)
    const { frames } = opened
    await opened.close()
    const size = frames.map((part) => part.size()).find((found) => found !== undefined)
    return size && fitImage({ ...size, pixelAspect: 1, rotationDegrees: 0 }, THUMBNAIL_BOUNDS)
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
    const read = async (maxBytes?: number) => this.#read(path, { key, maxBytes })
    return { key, sizeBytes: stat.sizeBytes, read }
  }

  /** @throws AppError `gone` if the file is not this version any more */
  async #read(
    path: string,
    { key, maxBytes = Infinity }: { key: string; maxBytes: number | undefined },
  ): Promise<Uint8Array> {
    const file = await this.#storage.open(path)
    await using _closing = closingAsync(file)
    if (versionKey(path, file.stat) !== key) throw new AppError('gone', 'the image was replaced')
    const bytes = Buffer.alloc(Math.min(file.stat.sizeBytes, maxBytes))
    const length = await file.read(bytes, 0)
    await file.checkUnchanged()
    return bytes.subarray(0, length)
  }

  /** Requests of one page share a listing, which an object store charges for. */
  async #names(folder: string): Promise<string[]> {
    return (await this.#folders.fetch(folder)) ?? []
  }
}

function versionKey(path: string, { version }: FileStat): string {
  return `${version} ${path}`
}

function splitFileName(path: string): { folder: string; base: string } {
  const slash = path.lastIndexOf('/')
  const name = path.slice(slash + 1)
  return { folder: slash === -1 ? '' : path.slice(0, slash), base: name.replace(/\.[^.]*$/, '') }
}
