// Thumbnails of sessions and streamers: a sidecar, else a cached image, else a decoded key frame.
import type { Admission } from '../admission/limits.ts'
import { LimitedFolder } from '../artifacts/limited-folder.ts'
import type { SharedArtifacts } from '../artifacts/shared-artifacts.ts'
import { isAppError } from '../errors.ts'
import type { Decoder } from './decoder.ts'
import { CachedThumbnails } from './cached-thumbnails.ts'
import type { CacheLog } from './cached-thumbnails.ts'
import { SessionImages } from './session-images.ts'
import type { ImageSource } from './session-images.ts'
import { SidecarImages } from './sidecar-images.ts'
import type { Sidecar } from './sidecar.ts'
import { imageVersion } from './thumbnail.ts'
import type { Thumbnail, ThumbnailRequest } from './thumbnail.ts'

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
   * requests wait, and with the reason of the request's signal.
   */
  session(source: ThumbnailSource, request: ThumbnailRequest): Promise<Thumbnail | undefined>
  /** The streamer's thumbnail; undefined if there is none. Rejects like `session`. */
  streamer(
    source: StreamerThumbnailSource,
    request: ThumbnailRequest,
  ): Promise<Thumbnail | undefined>
  /** Aborts running work; waiting requests reject. The caller closes the decoder. */
  close(): void
}

export interface ThumbnailsOptions {
  /** Cache folder; created if missing. */
  folder: string
  /** Undefined: only sidecars and cached images. */
  decoder: Decoder | undefined
  admission: Pick<Admission, 'thumbnails' | 'imageBytes'>
  /** The images that nodes share. Default none. */
  shared?: SharedArtifacts | undefined
  log?: CacheLog
  /** Size limit of the cache. */
  maxCacheBytes?: number
}

const MAX_CACHE_BYTES = 512 * 1024 * 1024
const STREAMER_SESSIONS = 8

export function createThumbnails(options: ThumbnailsOptions): Thumbnails {
  const { folder, decoder, admission, shared, log, maxCacheBytes = MAX_CACHE_BYTES } = options
  const cache = new LimitedFolder({ folder, maxBytes: maxCacheBytes })
  const cached = new CachedThumbnails({ cache, shared, log })
  const images = new SessionImages({ decoder, cached, gate: admission.thumbnails })
  const sidecars = new SidecarImages(admission.imageBytes)

  async function session(
    source: ThumbnailSource,
    request: ThumbnailRequest,
  ): Promise<Thumbnail | undefined> {
    const own = await fromSidecar(source.sidecar, request)
    if (own !== undefined) return own
    const image = await images.find(source, request)
    if (image === undefined) return undefined
    const contentType = `image/${request.format}` as const
    return { bytes: image, contentType, version: imageVersion(image), release: () => undefined }
  }

  async function streamer(source: StreamerThumbnailSource, request: ThumbnailRequest) {
    const own = await fromSidecar(source.sidecar, request)
    if (own !== undefined) return own
    let requested = 0
    for await (const candidate of source.sessions) {
      const thumbnail = await session(candidate, request)
      if (thumbnail !== undefined || ++requested === STREAMER_SESSIONS) return thumbnail
    }
    return undefined
  }

  async function fromSidecar(sidecar: Sidecar | undefined, { signal }: ThumbnailRequest) {
    try {
      return sidecar && (await sidecars.lease(sidecar, signal))
    } catch (error) {
      if (!isAppError(error, 'not_found', 'gone', 'failed')) throw error
      // Removed or unreadable since it was listed: use the recording's own image.
      log?.warn({ err: error }, 'a sidecar image cannot be read')
      return undefined
    }
  }

  return { session, streamer, close: () => images.close() }
}
