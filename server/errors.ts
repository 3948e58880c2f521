// The closed list of failures that the program knows, and the one error class that carries them.

/**
 * What went wrong, in words of the product. The HTTP status of each stands once, in http/errors.ts;
 * the exit code of each stands once, in main.ts.
 *
 * - `invalid`: a parameter is malformed
 * - `not_found`: no such streamer, session, file or segment
 * - `gone`: taken off the site, or replaced while it was being read
 * - `unplayable`: the recording exists but cannot be played; the message says why
 * - `busy`: too much work under way; try again later
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

/** What an operator may want to know of an `unplayable` recording beside the reason; never told to visitors. */
export interface FailureDetails {
  /** Where in the file the trouble is, in bytes. */
  offsetBytes?: number
  /** Where on the session's timeline it is. */
  seconds?: number
  /** What a person can do about it. */
  advice?: string
}

/** A failure with a code of the closed list. The message is fit for a visitor: no path, no stack. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: FailureDetails | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options?: ErrorOptions & { details?: FailureDetails },
  ) {
    super(message, options)
    this.name = 'AppError'
    this.code = code
    this.details = options?.details
  }
}

/** Whether `error` is an AppError, and, where codes are named, one of these codes. */
export function isAppError(error: unknown, ...codes: ErrorCode[]): error is AppError {
  return error instanceof AppError && (codes.length === 0 || codes.includes(error.code))
}
