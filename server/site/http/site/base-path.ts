// The path below which the site is, `server.basePath`: '' or a path such as `/tv`. It is removed
// from requests, and precedes each path in a response. Pure.
import { withoutTrailingSlashes } from '../../../../shared/paths.ts'

/** A path of the site, as clients request it: `/tv/s/alice` for `/s/alice`. */
export type FormatPath = (this: void, sitePath: string) => string

/** The function that precedes paths by `basePath`. */
export function belowBasePath(basePath: string): FormatPath {
  return (sitePath) => basePath + sitePath
}

/** Requests of orchestrators and proxies for the state of a node. */
const PROBES = ['/healthz', '/readyz']

/** What a client requests: something of the site, its home page without a slash, or neither. */
export type RequestTarget =
  | { kind: 'site'; url: string }
  | { kind: 'home'; url: string }
  | { kind: 'outside' }

/** @param target of a request (RFC 9112, 3.2) */
export function parseTarget(target: string, basePath: string): RequestTarget {
  const url = originForm(target)
  if (basePath === '') return { kind: 'site', url }
  if (url.startsWith(`${basePath}/`)) return { kind: 'site', url: url.slice(basePath.length) }
  const [path = ''] = url.split('?', 1)
  if (PROBES.includes(path)) return { kind: 'site', url }
  const isHome = path === '/' || path === basePath
  return isHome
    ? { kind: 'home', url: `${basePath}/${url.slice(path.length)}` }
    : { kind: 'outside' }
}

/** Path and query. Every server must accept the absolute form, too (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  if (target.startsWith('/')) return target
  return target.replace(/^https?:\/\/[^/?]*\/?/i, '/')
}

/**
 * Public URL of the site, without a slash at the end.
 *
 * @param url of the server; it may end with the base path
 */
export function formatSiteUrl(url: string, basePath: string): string {
  const bare = withoutTrailingSlashes(url)
  return new URL(bare).pathname === '/' ? bare + basePath : bare
}

/** The HTML of a built page, whose links and scripts are at the root. */
export function addBasePathToHtml(html: string, basePath: string): string {
  if (basePath === '') return html
  return html
    .replace(/^<html(?= )/m, `<html data-base-path="${basePath}"`)
    .replaceAll(/(?<=\s(?:href|src)=")(?=\/(?!\/))/g, basePath)
}
