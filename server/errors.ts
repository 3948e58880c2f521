// The closed list of failures, and the two error classes that carry them.
import type { UnplayableReason } from './problem.ts'

/**
 * The HTTP status of each code is defined once, in http/errors.ts; the exit code in program.ts.
 *
 * - `invalid`: a parameter is malformed
 * - `not_found`: no such streamer, session, file or segment
 * - `gone`: removed from the site, or replaced during the read
 * - `unplayable`: the recording exists but is unplayable; UnplayableError carries the reason
 * - `busy`: too much concurrent work; try again later
 * - `usage`: unusable arguments or configuration; the message names the key
 * - `failed`: an operation failed for a reason outside of the program (disk, network)
 */
export type ErrorCode =
  | 'invalid'
  | 'not_found'
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

/** Whether `error` has a code of the closed list, and, where codes are named, one of these. */
export function isAppError(
  error: unknown,
  ...codes: ErrorCode[]
): error is AppError | UnplayableError {
  const isKnown = error instanceof AppError || error instanceof UnplayableError
  return isKnown && (codes.length === 0 || codes.includes(error.code))
}
