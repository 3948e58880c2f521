// The value of `server.basePath`, and its agreement with `server.publicUrl`. Pure.
import { z } from 'zod'
import { withoutTrailingSlashes } from '../../../shared/paths.ts'

const error = 'must begin with / and consist of letters, digits, . _ ~ - and /, such as /tv'
/** Unreserved characters (RFC 3986 2.3): no proxy has a reason to encode or decode them. */
const SEGMENT = /^[\w.~-]+$/

/** Its value has no slash at the end, so it is '' for the root of the host. */
export const basePath = z.string({ error }).transform((value, context): string => {
  const path = value.replace(/\/$/, '')
  const [first, ...segments] = path.split('/')
  if (first === '' && segments.every(isSegment)) return path
  context.addIssue({ code: 'custom', message: error })
  return ''
})

function isSegment(segment: string): boolean {
  return SEGMENT.test(segment) && segment !== '.' && segment !== '..'
}

/** A proxy passes paths on unchanged, so visitors and the server see the same path. */
export function findBasePathProblems(server: {
  basePath: string
  publicUrl?: string | undefined
}): { key: string; message: string }[] {
  if (server.publicUrl === undefined) return []
  const path = withoutTrailingSlashes(new URL(server.publicUrl).pathname)
  if (path === '' || path === server.basePath) return []
  return [{ key: 'server.publicUrl', message: 'must have no path, or that of server.basePath' }]
}
