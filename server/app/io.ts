// The process's environment as main passes it in: output and cancellation.
import type { LineOutput } from '../base/log/line-output.ts'

export interface Io {
  /** Writes one line of a command's result. Waits for a terminal. */
  stdout: (line: string) => void
  /** Writes one line of a running server to stdout. Never waits: the line may be dropped. */
  announce: (line: string) => void
  /** Writes one line of diagnostics. Never waits: the line may be dropped. */
  stderr: (line: string) => void
  /** The output of `stderr`, for the log. */
  log: LineOutput
  /** stderr if it is a terminal, which can show a progress bar. */
  terminal: NodeJS.WritableStream | undefined
  /** Process id of this process. */
  processId: number
  /** `v24.0.0`. */
  nodeVersion: string
  /** Aborts when the program should exit. */
  signal: AbortSignal
}
