// Placeholder until the app's own command is merged; only its signature counts.
import type { Config } from '../config/load-config.ts'
import { AppError } from '../errors.ts'
import type { Io } from './io.ts'

/** Answers the exit code. */
export async function scan(_config: Config, _io: Io): Promise<number> {
  throw new AppError('failed', 'not there yet')
}
