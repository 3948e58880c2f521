// Output of a server: it never throws, never blocks and never grows. Lines that cannot be written
// are dropped and counted.
import { once } from 'node:events'
import { constants, fstatSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'
import sonicBoom from 'sonic-boom'

export interface LineOutput {
  /** Writes complete lines, line ends included, or drops them. */
  write(this: void, lines: string): void
  /** Number of dropped calls so far. */
  readonly dropped: number
  /** Calls back with the number of dropped calls, each time that writing works again. */
  onRecovered(listener: (dropped: number) => void): void
  /** Resolves once everything is written, or cannot be, or after a second. */
  flush(): Promise<void>
  /** Flushes, and retries nothing afterwards. */
  close(): Promise<void>
}

/** For bursts, and for readers that are slow for a moment. */
const MAX_BUFFERED_BYTES = 1024 * 1024
const RETRY_MS = 1000
const FLUSH_TIMEOUT_MS = 1000

interface OutputState {
  isClosed: boolean
  dropped: number
  /** The number of dropped lines that listeners were notified of. */
  reported: number
  retry: NodeJS.Timeout | undefined
}

/** @param fd 1 or 2 */
export function openLineOutput(fd: number): LineOutput {
  const state: OutputState = { isClosed: false, dropped: 0, reported: 0, retry: undefined }
  const stream = new sonicBoom.SonicBoom({
    fd: reopenNonBlocking(fd),
    sync: false,
    maxLength: MAX_BUFFERED_BYTES,
    // Its timers keep the process running.
    retryEAGAIN: () => !state.isClosed,
  })
  const listeners: ((dropped: number) => void)[] = []
  // An empty write starts another attempt, which a full buffer would not.
  const attempt = (): void => void stream.write('')
  stream.on('drop', () => (state.dropped += 1))
  stream.on('error', () => {
    // Full disk, closed pipe or terminal: the buffer stays, because this may end.
    state.retry ??= setTimeout(() => {
      state.retry = undefined
      attempt()
    }, RETRY_MS).unref()
  })
  stream.on('drain', () => {
    const unreported = state.dropped - state.reported
    if (unreported === 0) return
    state.reported = state.dropped
    for (const listener of listeners) listener(unreported)
  })
  const flush = async (): Promise<void> => {
    const signal = AbortSignal.timeout(FLUSH_TIMEOUT_MS)
    const written = once(stream, 'drain', { signal }).catch(() => undefined)
    attempt()
    await written
  }
  return {
    write: (lines) => void stream.write(lines),
    get dropped() {
      return state.dropped
    },
    onRecovered: (listener) => void listeners.push(listener),
    flush,
    async close() {
      await flush()
      state.isClosed = true
    },
  }
}

/**
 * A write that blocks would occupy a thread, and the process could not exit before it returns. A
 * pipe or terminal is opened again, because other processes depend on the flags of the inherited
 * descriptor. Sockets cannot be opened again: for them, Node has set the flag already. Files never
 * block for long.
 */
function reopenNonBlocking(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO() && !isatty(fd)) return fd
    const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants
    return openSync(`/dev/fd/${fd}`, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY)
  } catch {
    // It belongs to another user, or its reader has gone.
    return fd
  }
}
