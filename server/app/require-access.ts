// Access to what a key of the configuration names, before anything else starts.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, isAppError } from '../errors.ts'
import type { Io } from './io.ts'
import { CATALOG_FILE } from './library.ts'

export interface AccessOptions {
  /** Of the configuration. */
  key: string
  value: string
  /** Rejects with AppError `busy` if that may change by itself, else with another code. */
  check: (signal: AbortSignal) => Promise<void>
  /** The data folder. */
  data: string
  io: Io
}

/** @throws AppError `usage` with one line that names the key */
export async function requireAccess({ key, value, check, data, io }: AccessOptions): Promise<void> {
  try {
    await check(io.signal)
  } catch (error) {
    if (!isAppError(error)) throw error
    const problem = `${key}: ${value}: ${error.message}`
    // A store that is down: what an earlier run has left is served meanwhile.
    if (error.code !== 'busy' || !existsSync(join(data, CATALOG_FILE))) {
      throw new AppError('usage', problem, { cause: error })
    }
    io.stderr(problem)
  }
}
