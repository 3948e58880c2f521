// Why a pre-roll is not shown, by error codes of VAST. docs/advertising.md describes each.
import type { VastErrorCode } from '../../../shared/vast-error-codes.ts'

/** The codes that are sent here. */
export type SentErrorCode = Extract<
  VastErrorCode,
  | 100
  | 101
  | 102
  | 200
  | 201
  | 300
  | 301
  | 302
  | 303
  | 304
  | 400
  | 401
  | 402
  | 403
  | 405
  | 409
  | 602
  | 900
>

export class VastError extends Error {
  readonly code: SentErrorCode

  constructor(code: SentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
