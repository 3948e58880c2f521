// Placeholder until the app's own command is merged; only its signature counts.
import { AppError } from '../errors.ts'
import type { Io } from './io.ts'

/** Answers the exit code. */
export async function demo(_folder: string, _io: Io): Promise<number> {
  throw new AppError('failed', 'not there yet')
}
