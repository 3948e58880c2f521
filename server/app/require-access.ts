// Access to what a key of the configuration names, before anything else starts.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, codeOf, isAppError } from '../base/errors.ts'
import type { UnplayableError } from '../base/errors.ts'
import type { Io } from './io.ts'
import { CATALOG_FILE } from './library.ts'

export interface AccessOptions {
  /** The configuration key that names it. */
  key: string
  value: string
  /** Rejects with AppError `busy` if that may change by itself, else with another code. */
  check: (signal: AbortSignal) => Promise<void>
  /** The data folder. */
  data: string
  io: Io
}

/** @throws AppError `usage`, or `failed` without permission, with one line that names the key */
export async function requireAccess({ key, value, check, data, io }: AccessOptions): Promise<void> {
  try {
    await check(io.signal)
  } catch (error) {
    if (!isAppError(error)) throw error
    const problem = `${key}: ${value}: ${error.message}${remedyOf(error)}`
    // The configuration is right: permissions have to change.
    if (isPermission(error.cause)) throw new AppError('failed', problem, { cause: error })
    // A store that is down: what an earlier run has left is served meanwhile.
    if (error.code !== 'busy' || !existsSync(join(data, CATALOG_FILE))) {
      throw new AppError('usage', problem, { cause: error })
    }
    io.stderr(problem)
  }
}

function isPermission(cause: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(codeOf(cause))
}

/** Of a store; its messages are also for visitors, unlike their causes. */
function remedyOf({ code, message, cause }: AppError | UnplayableError): string {
  if (code !== 'busy') return ''
  const details = cause instanceof Error && !message.includes(cause.message) ? cause.message : ''
  return `${details && `: ${details}`}; check AWS_ENDPOINT_URL_S3, AWS_REGION and the network`
}
