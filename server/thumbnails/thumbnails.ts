// Thumbnails of sessions and streamers: a sidecar, else a cached image, else a decoded key frame.
import { createHash } from 'node:crypto'
import { isAppError } from '../errors.ts'
import type { Decoder } from './decoder.ts'
import type { ImageFormat, ImageType } from './image-format.ts'
import { CachedThumbnails } from './cached-thumbnails.ts'
import type { CacheLog } from './cached-thumbnails.ts'
import { SessionImages } from './session-images.ts'
import type { ImageSource } from './session-images.ts'
import { readSidecar } from './sidecar.ts'
import type { Sidecar } from './sidecar.ts'
import { ThumbnailCache } from './thumbnail-cache.ts'

/** An image, ready to be sent. */
export interface Thumbnail {
  bytes: Uint8Array
  contentType: ImageType
  /** Changes with the bytes; used as an ETag. */
  version: string
}

/** Sources of a session's thumbnail; a sidecar has priority. */
export interface ThumbnailSource extends ImageSource {
  sidecar?: Sidecar | undefined
}

/** Sources of a streamer's thumbnail: the sidecar, else the first of the sessions that has one. */
export interface StreamerThumbnailSource {
  sidecar?: Sidecar | undefined
  /** Newest first; at most STREAMER_SESSIONS of them are tried. */
  sessions: Iterable<ThumbnailSource> | AsyncIterable<ThumbnailSource>
}

export interface Thumbnails {
  /**
   * The session's thumbnail; undefined if there is none. Rejects with AppError `busy` if too many
   * requests wait.
   */
  session(source: ThumbnailSource, format: ImageFormat): Promise<Thumbnail | undefined>
  /** The streamer's thumbnail; undefined if there is none. Rejects like `session`. */
  streamer(source: StreamerThumbnailSource, format: ImageFormat): Promise<Thumbnail | undefined>
  /** Aborts running work; waiting requests reject. The caller closes the decoder. */
  close(): void
}

export interface ThumbnailsOptions {
  /** Cache folder; created if missing. */
  folder: string
  decoder: Decoder
  log?: CacheLog
  /** Size limit of the cache. */
  maxCacheBytes?: number
  /** Sessions whose thumbnail may wait to be rendered; more throw AppError `busy`. */
  maxWaiting?: number
}

const MAX_CACHE_BYTES = 512 * 1024 * 1024
const MAX_WAITING = 64
const STREAMER_SESSIONS = 8

export function createThumbnails(options: ThumbnailsOptions): Thumbnails {
  const {
    folder,
    decoder,
    log,
    maxCacheBytes = MAX_CACHE_BYTES,
    maxWaiting = MAX_WAITING,
  } = options
  const cached = new CachedThumbnails(new ThumbnailCache({ folder, maxBytes: maxCacheBytes }), log)
  const images = new SessionImages({ decoder, cached, maxWaiting })

  async function session(source: ThumbnailSource, format: ImageFormat) {
    const own = await fromSidecar(source.sidecar, log)
    if (own !== undefined) return own
    const image = await images.find(source, format)
    return image && toThumbnail(image, `image/${format}`)
  }

  async function streamer(source: StreamerThumbnailSource, format: ImageFormat) {
    const own = await fromSidecar(source.sidecar, log)
    if (own !== undefined) return own
    let requested = 0
    for await (const candidate of source.sessions) {
      const thumbnail = await session(candidate, format)
      if (thumbnail !== undefined || ++requested === STREAMER_SESSIONS) return thumbnail
    }
    return undefined
  }

  return { session, streamer, close: () => images.close() }
}

async function fromSidecar(
  sidecar: Sidecar | undefined,
  log: CacheLog | undefined,
): Promise<Thumbnail | undefined> {
  try {
    const image = sidecar && (await readSidecar(sidecar))
    return image && toThumbnail(image.bytes, image.contentType)
  } catch (error) {
    if (!isAppError(error, 'not_found', 'gone', 'failed')) throw error
    // Removed or unreadable since it was listed: use the recording's own image.
    log?.warn({ err: error }, 'a sidecar image cannot be read')
    return undefined
  }
}

function toThumbnail(bytes: Uint8Array, contentType: ImageType): Thumbnail {
  const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return { bytes, contentType, version }
}
