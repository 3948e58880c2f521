// Shows a scan's progress: a bar on a terminal, occasional lines elsewhere.
import { Presets, SingleBar } from 'cli-progress'
import type { ScanProgress } from '../catalog/scan/scan.ts'
import type { Io } from './io.ts'

const LINE_INTERVAL_MS = 5000

/** Receives progress until it is stopped. */
export interface ProgressDisplay {
  show: (progress: ScanProgress) => void
  stop: () => void
}

export function createProgressDisplay(io: Io, now: () => number): ProgressDisplay {
  return io.terminal === undefined ? createLines(io, now) : createBar(io.terminal)
}

function createBar(stream: NodeJS.WritableStream): ProgressDisplay {
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
      if (total === 0) return
      if (!isStarted) bar.start(total, done, { found })
      isStarted = true
      bar.setTotal(total)
      bar.update(done, { found })
    },
    stop: () => bar.stop(),
  }
}

function createLines(io: Io, now: () => number): ProgressDisplay {
  let nextAtMs = now() + LINE_INTERVAL_MS
  return {
    show({ done, total, found }) {
      if (total === 0 || now() < nextAtMs) return
      nextAtMs = now() + LINE_INTERVAL_MS
      io.stderr(`${found} recordings found, ${done} of ${total} indexed`)
    },
    stop: () => undefined,
  }
}
