// Pictures for sessions and streamers: a sidecar, else what is kept, else a key frame decoded now.
import { createHash } from 'node:crypto'
import { isAppError } from '../errors.ts'
import type { Decoder } from './decoder.ts'
import type { ImageFormat, ImageType } from './image-format.ts'
import { CachedThumbnails } from './cached-thumbnails.ts'
import type { KeptLog } from './cached-thumbnails.ts'
import { SessionImages } from './session-images.ts'
import type { ImageSource } from './session-images.ts'
import { readSidecar } from './sidecar.ts'
import type { Sidecar } from './sidecar.ts'
import { ThumbnailCache } from './thumbnail-cache.ts'

/** An image, ready to be sent. */
export interface Thumbnail {
  bytes: Uint8Array
  contentType: ImageType
  /** Changes with the bytes; fit for an ETag. */
  version: string
}

/** Where a session's picture can come from; a sidecar wins. */
export interface ThumbnailSource extends ImageSource {
  sidecar?: Sidecar | undefined
}

/** Where a streamer's picture can come from: the sidecar, else the first of the sessions that has one. */
export interface StreamerThumbnailSource {
  sidecar?: Sidecar | undefined
  /** Newest first; at most STREAMER_SESSIONS of them are asked. */
  sessions: Iterable<ThumbnailSource> | AsyncIterable<ThumbnailSource>
}

export interface Thumbnails {
  /** The session's picture; undefined where it has none. Rejects with AppError `busy` where too many wait already. */
  session(source: ThumbnailSource, format: ImageFormat): Promise<Thumbnail | undefined>
  /** The streamer's picture; undefined where there is none. Rejects as `session` does. */
  streamer(source: StreamerThumbnailSource, format: ImageFormat): Promise<Thumbnail | undefined>
  /** Ends the work under way; what waits rejects. The decoder is the caller's to close. */
  close(): void
}

export interface ThumbnailsOptions {
  /** Folder of the kept pictures; made where it is missing. */
  folder: string
  decoder: Decoder
  log?: KeptLog
  /** Total size of the kept pictures. */
  maxCacheBytes?: number
  /** Sessions whose picture may wait to be made, beyond which AppError `busy` is thrown. */
  maxWaiting?: number
}

const MAX_CACHE_BYTES = 512 * 1024 * 1024
const MAX_WAITING = 64
const STREAMER_SESSIONS = 8

/** The thumbnails of a library. */
export function createThumbnails(options: ThumbnailsOptions): Thumbnails {
  const {
    folder,
    decoder,
    log,
    maxCacheBytes = MAX_CACHE_BYTES,
    maxWaiting = MAX_WAITING,
  } = options
  const kept = new CachedThumbnails(new ThumbnailCache({ folder, maxBytes: maxCacheBytes }), log)
  const images = new SessionImages({ decoder, kept, maxWaiting })

  async function session(source: ThumbnailSource, format: ImageFormat) {
    const own = await fromSidecar(source.sidecar, log)
    if (own !== undefined) return own
    const image = await images.find(source, format)
    return image && asThumbnail(image, `image/${format}`)
  }

  async function streamer(source: StreamerThumbnailSource, format: ImageFormat) {
    const own = await fromSidecar(source.sidecar, log)
    if (own !== undefined) return own
    let asked = 0
    for await (const candidate of source.sessions) {
      const thumbnail = await session(candidate, format)
      if (thumbnail !== undefined || ++asked === STREAMER_SESSIONS) return thumbnail
    }
    return undefined
  }

  return { session, streamer, close: () => images.close() }
}

async function fromSidecar(
  sidecar: Sidecar | undefined,
  log: KeptLog | undefined,
): Promise<Thumbnail | undefined> {
  try {
    const image = sidecar && (await readSidecar(sidecar))
    return image && asThumbnail(image.bytes, image.contentType)
  } catch (error) {
    if (!isAppError(error, 'not_found', 'gone', 'failed')) throw error
    // Removed, or unreadable, since it was listed: the recording's own picture is as good.
    log?.warn({ err: error }, 'a sidecar image cannot be read')
    return undefined
  }
}

function asThumbnail(bytes: Uint8Array, contentType: ImageType): Thumbnail {
  const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return { bytes, contentType, version }
}
