// Thumbnails and storyboards of an open library: their sources, caches and decoder.
import { join } from 'node:path'
import { ThumbnailSources } from '../site/http/api/thumbnail-sources.ts'
import { Storyboards } from '../decode/storyboards/storyboards.ts'
import { createDecoder } from '../decode/thumbnails/decoder.ts'
import type { Decoder } from '../decode/thumbnails/decoder.ts'
import { createThumbnails } from '../decode/thumbnails/thumbnails.ts'
import type { Thumbnails } from '../decode/thumbnails/thumbnails.ts'
import type { Serving } from './library.ts'

export interface OpenThumbnails {
  thumbnails: Thumbnails
  storyboards: Storyboards
  sources: ThumbnailSources
  /** Undefined where its package is not installed: only cached images are served. */
  decoder: Decoder | undefined
  /** Ends decoders that run. */
  close(this: void): void
}

export function openThumbnails({
  config,
  library,
  logger,
}: Pick<Serving, 'config' | 'library' | 'logger'>): OpenThumbnails {
  const { hasDecoders, sandbox } = library
  const decoder = hasDecoders ? createDecoder({ log: logger, sandbox }) : undefined
  const thumbnails = createThumbnails({
    folder: join(config.data, 'thumbnails'),
    decoder,
    admission: library.admission,
    shared: library.artifacts,
    log: logger,
  })
  const storyboards = new Storyboards({
    folder: join(config.data, 'storyboards'),
    decoder,
    admission: library.admission,
    shared: library.artifacts,
    log: logger,
  })
  return {
    thumbnails,
    storyboards,
    sources: new ThumbnailSources(library),
    decoder,
    close() {
      thumbnails.close()
      storyboards.close()
      decoder?.close()
    },
  }
}
