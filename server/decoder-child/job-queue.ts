// A bounded queue: limits the jobs that run and that wait, and rejects further ones.
import { AppError } from '../errors.ts'

export interface JobQueue {
  readonly figures: JobFigures
  /**
   * Runs the job when its turn comes and returns its result. Throws AppError `busy` if too many
   * jobs wait; rejects with the signal's reason if it aborts before that.
   */
  run<Value>(job: () => Promise<Value>, signal: AbortSignal): Promise<Value>
}

/** Jobs that run and wait now, and how many have ended. */
export interface JobFigures {
  running: number
  waiting: number
  finished: number
}

export interface JobQueueBounds {
  concurrency: number
  waiting: number
  /** Message of the `busy` error. */
  busyMessage: string
}

/**
 * A first-in, first-out queue that runs `concurrency` jobs at once while at most `waiting` more
 * wait.
 */
export function createJobQueue(bounds: JobQueueBounds): JobQueue {
  const turns: (() => void)[] = []
  let running = 0
  let finished = 0

  function takeTurn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (running < bounds.concurrency) {
      running++
      return Promise.resolve()
    }
    if (turns.length >= bounds.waiting) {
      throw new AppError('busy', bounds.busyMessage)
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        turns.splice(turns.indexOf(start), 1)
        reject(signal.reason)
      }
      const start = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      turns.push(start)
    })
  }

  function passTurn(): void {
    const next = turns.shift()
    if (next === undefined) running--
    else next()
  }

  return {
    get figures() {
      return { running, waiting: turns.length, finished }
    },
    async run(job, signal) {
      await takeTurn(signal)
      try {
        return await job()
      } finally {
        finished += 1
        passTurn()
      }
    },
  }
}
