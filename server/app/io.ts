// What main hands to the program of the world outside: where to write, when to stop, how many cores there are.

export interface Io {
  /** Writes one line of the program's result. */
  stdout: (line: string) => void
  /** Writes one line for the person in front of it. */
  stderr: (line: string) => void
  /** Whether stderr is a terminal, which can show a progress bar. */
  isTerminal: boolean
  /** Aborts when the program is to end. */
  signal: AbortSignal
}
