// The process's environment as main passes it in: output, cancellation, number of cores.

export interface Io {
  /** Writes one line of output. */
  stdout: (line: string) => void
  /** Writes one line of diagnostics. */
  stderr: (line: string) => void
  /** Whether stderr is a terminal that can show a progress bar. */
  isTerminal: boolean
  /** Aborts when the program should exit. */
  signal: AbortSignal
}
