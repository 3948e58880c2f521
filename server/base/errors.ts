// The closed list of failures, the two error classes that carry them, and the reasons of the system
// in words.
import type { Limit, UnplayableReason } from './problem.ts'

/**
 * The HTTP status of each code is defined once, in site/http/responses/errors.ts; the exit code in
 * app/program.ts.
 *
 * - `invalid`: a parameter is malformed
 * - `not_found`: no such streamer, session, file or segment
 * - `no_such_quality`: the session exists, but not in this quality
 * - `gone`: removed from the site, or replaced during the read
 * - `unplayable`: the recording exists but is unplayable; UnplayableError carries the reason
 * - `busy`: too much concurrent work; try again later
 * - `usage`: unusable arguments or configuration; the message names the key
 * - `failed`: an operation failed for a reason outside of the program (disk, network)
 */
export type ErrorCode =
  | 'invalid'
  | 'not_found'
  | 'no_such_quality'
  | 'gone'
  | 'unplayable'
  | 'busy'
  | 'usage'
  | 'failed'

/** A failure with a code of the list. Visitors may read the message: no path, no stack. */
export class AppError extends Error {
  readonly code: Exclude<ErrorCode, 'unplayable'>

  constructor(code: Exclude<ErrorCode, 'unplayable'>, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'AppError'
    this.code = code
  }
}

/** A recording is unplayable. The message is for logs; problem-text.ts formats the reason. */
export class UnplayableError extends Error {
  readonly code = 'unplayable'
  readonly reason: UnplayableReason

  constructor(reason: UnplayableReason, options?: ErrorOptions) {
    super(JSON.stringify(reason), options)
    this.name = 'UnplayableError'
    this.reason = reason
  }
}

/** The error for a recording that exceeds a limit. */
export function limitExceeded(limit: Limit, max: number): UnplayableError {
  return new UnplayableError({ code: 'limit-exceeded', limit, max })
}

/** @throws UnplayableError if the recording has more than `max` */
export function checkLimit(limit: Limit, max: number, count: number): void {
  if (count > max) throw limitExceeded(limit, max)
}

/** Whether `error` has a code of the closed list, and, where codes are named, one of these. */
export function isAppError(
  error: unknown,
  ...codes: ErrorCode[]
): error is AppError | UnplayableError {
  const isKnown = error instanceof AppError || error instanceof UnplayableError
  return isKnown && (codes.length === 0 || codes.includes(error.code))
}

const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a file is where a folder must be',
  EEXIST: 'something else has this name',
  EISDIR: 'it is a folder',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the quota of the disk is exceeded',
  EFBIG: 'the file is larger than allowed',
  EIO: 'the disk reports an error',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EADDRINUSE: 'another program uses this port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  ETIMEDOUT: 'no response',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the host',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the host name cannot be resolved now',
  SQLITE_READONLY: 'permission denied',
  SQLITE_CANTOPEN: 'permission denied',
  SQLITE_NOTADB: 'it is no database',
  SQLITE_CORRUPT: 'the database is corrupt',
  SQLITE_IOERR: 'the disk reports an error',
  SQLITE_FULL: 'no space is left on the disk',
}

/** What an error code of the system means; undefined for others. */
export function systemReason(code: string): string | undefined {
  // SQLite's extended codes: SQLITE_READONLY_DIRECTORY.
  const name = /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code
  return Object.hasOwn(SYSTEM_REASONS, name) ? SYSTEM_REASONS[name] : undefined
}

/** The code of an error of the system or a library; '' without one. */
export function codeOf(error: unknown): string {
  // Host names with several addresses fail with one error for each.
  if (error instanceof AggregateError) return codeOf(error.errors.at(0))
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Why something failed, for operators: in words where the system gives a code. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  const words = systemReason(code)
  if (words !== undefined) return `${words} (${code})`
  return error instanceof Error && error.message !== '' ? error.message : String(error)
}

/** @param place of the data folder or a file in it, and what is not possible there */
export function unusableData(place: string, cause: unknown): AppError {
  const problem = `data: ${place}: ${reasonOf(cause)}${remedyOf(codeOf(cause))}`
  return new AppError('failed', problem, { cause })
}

function remedyOf(code: string): string {
  if (['ENOENT', 'ENOTDIR'].includes(code)) return '; name another folder with --data'
  if (['ENOSPC', 'EDQUOT'].includes(code)) return '; free some space there'
  if (code === 'EIO') return '; check the disk'
  if (systemReason(code) !== SYSTEM_REASONS.EACCES) return ''
  return '; run this as the user of the server, who must be able to write there'
}
