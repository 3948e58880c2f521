// The only place that joins library paths to a real folder and decides containment.
import { join, sep } from 'node:path'
import { AppError } from '../errors.ts'

/** Longest path, as on Linux (PATH_MAX). */
const MAX_PATH_LENGTH = 4096

/**
 * Joins a library path ('' = the root) to the root. Throws `not_found` for a path that no listing
 * could contain.
 */
export function joinLibraryPath(root: string, path: string): string {
  if (path === '') return root
  if (path.length > MAX_PATH_LENGTH || !path.split('/').every(isVisibleName)) throw notFound()
  return join(root, ...path.split('/'))
}

/**
 * Whether a listing may contain this name: not hidden (covers `.` and `..`), not empty, no NUL, no
 * separator.
 */
export function isVisibleName(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !name.includes('\0') && !hasSeparator(name)
}

/** Whether a real path is the real root or below it. */
export function isInside(realRoot: string, realPath: string): boolean {
  if (realPath === realRoot) return true
  const prefix = realRoot.endsWith(sep) ? realRoot : realRoot + sep
  return realPath.startsWith(prefix)
}

/**
 * Library path of an absolute path; undefined if it is not below the root or has a hidden
 * component.
 */
export function libraryPath(root: string, absolute: string): string | undefined {
  if (absolute === root) return ''
  if (!isInside(root, absolute)) return undefined
  const parts = absolute.slice(root.endsWith(sep) ? root.length : root.length + 1).split(sep)
  return parts.every(isVisibleName) ? parts.join('/') : undefined
}

/** The error for a file or folder that does not exist or is not visible. */
export function notFound(cause?: unknown): AppError {
  return new AppError('not_found', 'there is no such file in the library', { cause })
}

function hasSeparator(name: string): boolean {
  return name.includes('/') || (sep !== '/' && name.includes(sep))
}
