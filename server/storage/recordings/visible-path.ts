// Library paths that a listing may contain.
import { sep } from 'node:path'
import { AppError } from '../../base/errors.ts'

/** Longest path, as on Linux (PATH_MAX). */
const MAX_PATH_LENGTH = 4096

/**
 * Whether a listing may contain this name: not hidden (covers `.` and `..`), not empty, no NUL, no
 * separator.
 */
export function isVisibleName(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !name.includes('\0') && !hasSeparator(name)
}

/** The names of a library path, except ''. Throws `not_found` if no listing could contain it. */
export function splitVisiblePath(path: string): string[] {
  const names = path.split('/')
  if (path.length > MAX_PATH_LENGTH || !names.every(isVisibleName)) throw notFound()
  return names
}

/** The error for a file or folder that does not exist or is not visible. */
export function notFound(cause?: unknown): AppError {
  return new AppError('not_found', 'there is no such file in the library', { cause })
}

function hasSeparator(name: string): boolean {
  return name.includes('/') || (sep !== '/' && name.includes(sep))
}
