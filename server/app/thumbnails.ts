// Thumbnails, storyboards and emotes of an open library: their sources, caches and decoder.
import { join } from 'node:path'
import { ThumbnailSources } from '../site/http/api/thumbnail-sources.ts'
import { renderSprite } from '../decode/emotes/emote-sprite.ts'
import { Storyboards } from '../decode/storyboards/storyboards.ts'
import { createDecoder } from '../decode/thumbnails/decoder.ts'
import type { Decoder } from '../decode/thumbnails/decoder.ts'
import { createThumbnails } from '../decode/thumbnails/thumbnails.ts'
import type { Thumbnails } from '../decode/thumbnails/thumbnails.ts'
import type { ChatsOptions } from '../stream/chat/chats.ts'
import type { Serving } from './library.ts'

export interface OpenThumbnails {
  thumbnails: Thumbnails
  storyboards: Storyboards
  sources: ThumbnailSources
  /** Undefined without a decoder. */
  drawEmotes: ChatsOptions['drawEmotes']
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
  const closing = new AbortController()
  const gate = library.admission.thumbnails
  return {
    thumbnails,
    storyboards,
    sources: new ThumbnailSources(library),
    drawEmotes:
      decoder && (async (emotes) => renderSprite(emotes, { decoder, gate }, closing.signal)),
    decoder,
    close() {
      closing.abort(new Error('the server stops'))
      thumbnails.close()
      storyboards.close()
      decoder?.close()
    },
  }
}
