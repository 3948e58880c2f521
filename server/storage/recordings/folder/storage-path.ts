// The only place that joins library paths to a real folder and decides containment.
import { join, sep } from 'node:path'
import { isVisibleName, splitVisiblePath } from '../visible-path.ts'

/**
 * Joins a library path ('' = the root) to the root. Throws `not_found` for a path that no listing
 * could contain.
 */
export function joinLibraryPath(root: string, path: string): string {
  return path === '' ? root : join(root, ...splitVisiblePath(path))
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
