// Errors of the file system as failures of a storage.
import { AppError, codeOf } from '../../../base/errors.ts'
import { notFound } from '../visible-path.ts'

/** The process, or the system, has as many open files as it may. */
const tooManyOpenCodes = new Set(['EMFILE', 'ENFILE'])
const absentCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO'])

/** Converts rejections of node:fs to AppErrors. */
export async function orAppError<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (error) {
    throw asAppError(error)
  }
}

/** Missing files are `not_found`, unreadable ones `failed` or, for a moment, `busy`. */
export function asAppError(error: unknown): AppError {
  const code = codeOf(error) || 'unknown'
  if (absentCodes.has(code)) return notFound(error)
  if (tooManyOpenCodes.has(code)) {
    return new AppError('busy', `too many files are open (${code})`, { cause: error })
  }
  return new AppError('failed', `the library cannot be read (${code})`, { cause: error })
}
