// Puts the parts of the server together.
import type { Config } from './config/load-config.ts'
import { AppError } from './errors.ts'

/** What the program lends the app of its process. */
export interface Io {
  /** Writes one line. */
  stdout: (line: string) => void
  stderr: (line: string) => void
  /** Whether a person watches: progress bars instead of lines. */
  isTerminal: boolean
  /** Aborts when the program is asked to end. */
  signal: AbortSignal
  cpuCount: number
}

/** A server that accepts visitors. */
export interface RunningServer {
  close(): Promise<void>
}

export async function serve(_config: Config, _io: Io): Promise<RunningServer> {
  throw new AppError('failed', 'not there yet')
}

export async function scan(_config: Config, _io: Io): Promise<number> {
  throw new AppError('failed', 'not there yet')
}

export async function check(_config: Config, _io: Io): Promise<number> {
  throw new AppError('failed', 'not there yet')
}

export async function demo(_folder: string, _io: Io): Promise<number> {
  throw new AppError('failed', 'not there yet')
}
