// GET /manifest.webmanifest: the built web manifest, with the name of the site and its paths.
import type { Answer, Endpoint } from '../responses/answer.ts'
import { belowBasePath } from '../site/base-path.ts'
import type { PageOptions } from './page-sources.ts'

const PATHS = new Set(['id', 'start_url', 'src'])

export function createManifestEndpoint({
  page,
  site,
}: Pick<PageOptions, 'page' | 'site'>): Endpoint {
  const formatPath = belowBasePath(site.basePath)
  const place = (key: string, value: unknown): unknown =>
    typeof value === 'string' && PATHS.has(key) ? formatPath(value) : value
  const manifest = { ...page.manifest, name: site.name, short_name: site.name }
  const answer: Answer = {
    body: {
      kind: 'text',
      cached: { key: 'manifest', version: manifest },
      format: () => JSON.stringify(manifest, place),
    },
    type: 'application/manifest+json; charset=utf-8',
    cache: 'day',
    security: 'page',
  }
  return { path: '/manifest.webmanifest', answer: () => answer }
}
