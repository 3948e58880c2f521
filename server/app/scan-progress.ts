// A scan's progress: a bar on a terminal, a few lines of the log elsewhere, and how many recordings
// wait for their index.
import { Presets, SingleBar } from 'cli-progress'
import type { ScanProgress } from '../library/catalog/scan/scan.ts'
import type { Io } from './io.ts'

const LINE_INTERVAL_MS = 10_000

/** Receives progress; shows nothing more once it was stopped or completed. */
export interface ProgressDisplay {
  show: (progress: ScanProgress) => void
  stop: () => void
  /** Stops, and logs the end of what was logged. */
  complete: () => void
}

/** The program's log. */
interface ProgressLog {
  info: (details: object, message: string) => void
}

export interface ProgressOptions {
  io: Pick<Io, 'terminal'>
  logger: ProgressLog
  /** Milliseconds of any clock; default the system clock. */
  now?: () => number
}

export function createProgressDisplay({
  io: { terminal },
  logger,
  now = Date.now,
}: ProgressOptions): ProgressDisplay {
  const output = terminal === undefined ? createLines(logger, now) : createBar(terminal)
  let isStopped = false
  const stop = (): void => {
    if (!isStopped) output.stop()
    isStopped = true
  }
  return {
    show: (progress) => isStopped || progress.total === 0 || output.show(progress),
    stop,
    complete() {
      if (!isStopped) output.complete?.()
      stop()
    },
  }
}

/**
 * Follows a scanner until everything that its first walk found is indexed: growing recordings are
 * inspected again and again, for which nobody waits.
 */
export function followFirstScan(display: ProgressDisplay) {
  const indexed = Promise.withResolvers<void>()
  let last: ScanProgress = { found: 0, done: 0, total: 0 }
  let foundByWalk: number | undefined
  const check = (): void => {
    if (foundByWalk === undefined || last.done < Math.min(foundByWalk, last.total)) return
    display.complete()
    indexed.resolve()
  }
  return {
    indexed: indexed.promise,
    update(progress: ScanProgress): void {
      last = progress
      display.show({ ...progress, total: foundByWalk ?? progress.total })
      check()
    },
    /** The first walk is complete. */
    walked(): void {
      foundByWalk = last.total
      check()
    },
  }
}

interface Output {
  show: (progress: ScanProgress) => void
  complete?: () => void
  stop: () => void
}

function createBar(stream: NodeJS.WritableStream): Output {
  const bar = new SingleBar(
    {
      stream,
      format: 'Indexing {bar} {value}/{total} · {found} recordings',
      clearOnComplete: true,
      hideCursor: true,
    },
    Presets.shades_classic,
  )
  let isStarted = false
  return {
    show({ done, total, found }) {
      if (!isStarted) bar.start(total, done, { found })
      isStarted = true
      bar.setTotal(total)
      bar.update(done, { found })
    },
    stop: () => bar.stop(),
  }
}

/** None for a scan that is short. */
function createLines(logger: ProgressLog, now: () => number): Output {
  let nextAtMs = now() + LINE_INTERVAL_MS
  let shown: ScanProgress | undefined
  return {
    show(progress) {
      if (now() < nextAtMs) return
      nextAtMs = now() + LINE_INTERVAL_MS
      shown = progress
      const { found, done, total } = progress
      logger.info({ found, indexed: done, total }, 'indexing recordings')
    },
    complete() {
      if (shown !== undefined) logger.info({ found: shown.found }, 'the recordings are indexed')
    },
    stop: () => undefined,
  }
}

/** The queue at one moment. */
export interface ScanQueue {
  recordings: number
  /** Time since the queue was last empty; 0 if it is empty. */
  ageMs: number
}

export interface ScanQueueTracker {
  update(this: void, progress: ScanProgress): void
  read(this: void): ScanQueue
}

/**
 * Tracks for how long the queue has not been empty.
 *
 * @param now milliseconds of a monotonic clock
 */
export function createScanQueueTracker(now: () => number): ScanQueueTracker {
  let recordings = 0
  let sinceMs = 0
  return {
    update({ done, total }) {
      const waiting = Math.max(0, total - done)
      if (recordings === 0) sinceMs = now()
      recordings = waiting
    },
    read: () => ({ recordings, ageMs: recordings === 0 ? 0 : now() - sinceMs }),
  }
}
