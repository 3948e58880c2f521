// The kind of a request: the label that logs and metrics group requests by.
import type { FastifyInstance } from 'fastify'
import type { FileName } from '../../../stream/hls/playlist/segment-names.ts'

export type RequestKind =
  | 'segment'
  | 'init'
  | 'key'
  | 'audio'
  | 'original'
  | 'playlist'
  | 'subtitle'
  | 'thumbnail'
  | 'storyboard'
  | 'chat'
  | 'list'
  | 'page'
  | 'feed'
  | 'oembed'
  | 'other'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the route, before it does any work. */
    kind: RequestKind
  }
}

/** Adds `request.kind`, which is `other` until a route sets it. */
export function addRequestKind(app: FastifyInstance): void {
  app.decorateRequest('kind', 'other')
}

/** The kind of a request for a file next to a playlist. */
export function fileKind(name: FileName | undefined): RequestKind {
  if (name === undefined) return 'other'
  if (name.kind === 'subtitles') return 'subtitle'
  return name.kind === 'segment' && name.form === 'vtt' ? 'subtitle' : name.kind
}
