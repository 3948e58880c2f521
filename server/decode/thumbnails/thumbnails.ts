// Thumbnails of sessions and streamers: a sidecar, else a cached image, else a decoded key frame.
import type { Admission } from '../../base/admission/limits.ts'
import { LimitedFolder } from '../../storage/artifacts/limited-folder.ts'
import type { ArtifactCacheOptions } from '../../storage/artifacts/artifact-cache.ts'
import { isAppError } from '../../base/errors.ts'
import type { Decoder } from './decoder.ts'
import { CachedThumbnails } from './cached-thumbnails.ts'
import { SessionImages } from './session-images.ts'
import type { ImageSource } from './session-images.ts'
import { ImageBuffers } from './image-buffers.ts'
import type { Leased } from './image-buffers.ts'
import { MAX_SIDECAR_BYTES, readSidecar } from './sidecar.ts'
import type { Sidecar } from './sidecar.ts'
import { toThumbnail } from './thumbnail.ts'
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
  session(
    source: ThumbnailSource,
    request: ThumbnailRequest,
  ): Promise<Leased<Thumbnail> | undefined>
  /** The streamer's thumbnail; undefined if there is none. Rejects like `session`. */
  streamer(
    source: StreamerThumbnailSource,
    request: ThumbnailRequest,
  ): Promise<Leased<Thumbnail> | undefined>
  /** Aborts running work; waiting requests reject. The caller closes the decoder. */
  close(): void
}

export interface ThumbnailsOptions extends Pick<ArtifactCacheOptions, 'shared' | 'log'> {
  /** Cache folder; created if missing. */
  folder: string
  /** Undefined: only sidecars and cached images. */
  decoder: Decoder | undefined
  admission: Pick<Admission, 'thumbnails' | 'imageBytes'>
  /** Size limit of the cache. */
  maxCacheBytes?: number
}

const MAX_CACHE_BYTES = 512 * 1024 * 1024
const STREAMER_SESSIONS = 8
/** Images that no request sends now, among them most avatars. */
const MAX_IDLE_BYTES = 24 * 1024 * 1024

export function createThumbnails(options: ThumbnailsOptions): Thumbnails {
  const { folder, decoder, admission, shared, log, maxCacheBytes = MAX_CACHE_BYTES } = options
  const cache = new LimitedFolder({ folder, maxBytes: maxCacheBytes })
  const cached = new CachedThumbnails({ folder: cache, shared, log })
  const images = new SessionImages({ decoder, cached, gate: admission.thumbnails })
  const buffers = new ImageBuffers<Thumbnail>({
    gate: admission.imageBytes,
    maxIdleBytes: MAX_IDLE_BYTES,
  })

  async function session(
    source: ThumbnailSource,
    request: ThumbnailRequest,
  ): Promise<Leased<Thumbnail> | undefined> {
    const own = await fromSidecar(source.sidecar, request)
    if (own !== undefined) return own
    const { format, signal } = request
    const read = async (all: AbortSignal): Promise<Thumbnail | undefined> => {
      const bytes = await images.find(source, { format, signal: all })
      return bytes && toThumbnail({ bytes, contentType: `image/${format}` })
    }
    return buffers.lease({ key: `${format} ${source.key}`, read }, signal)
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
    if (sidecar === undefined || sidecar.sizeBytes > MAX_SIDECAR_BYTES) return undefined
    const read = async (): Promise<Thumbnail | undefined> => {
      const image = await readSidecar(sidecar)
      return image && toThumbnail(image)
    }
    try {
      const { key, sizeBytes } = sidecar
      return await buffers.lease({ key: `sidecar ${key}`, sizeBytes, read }, signal)
    } catch (error) {
      if (!isAppError(error, 'not_found', 'gone', 'failed')) throw error
      // Removed or unreadable since it was listed: use the recording's own image.
      log?.warn({ err: error }, 'a sidecar image cannot be read')
      return undefined
    }
  }

  return { session, streamer, close: () => images.close() }
}
