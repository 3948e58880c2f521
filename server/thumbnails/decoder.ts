// Decodes pictures in processes of their own, so that a hostile file costs one picture and never the site.
import { DecoderProcess } from './decoder-process.ts'
import type { DecoderLimits, RenderAnswer } from './decoder-process.ts'
import { createJobQueue } from './job-queue.ts'
import { MAX_KEY_FRAME_BYTES } from './render-message.ts'
import type { RenderJob } from './render-message.ts'

export interface Decoder {
  /**
   * Decodes, scales and encodes one key frame. Rejects with AppError `busy` where too many jobs wait, `failed` where
   * no decoder process starts, and with the signal's reason.
   */
  render(job: RenderJob, signal: AbortSignal): Promise<RenderAnswer>
  /** Ends every process; jobs under way reject. */
  close(): void
}

/** The part of a logger that the decoder uses. */
interface DecoderLog {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
}

export interface DecoderOptions {
  /** Processes at once. Default 1. */
  concurrency?: number
  limits?: Partial<DecoderLimits>
  log?: DecoderLog
}

const MAX_WAITING = 64
const DEFAULT_LIMITS: DecoderLimits = {
  startMs: 15_000,
  jobMs: 5_000,
  residentBytes: 512 * 1024 * 1024,
  idleMs: 60_000,
}

/** A decoder whose processes start when first needed, are used again, and end after an idle minute. */
export function createDecoder(options: DecoderOptions = {}): Decoder {
  const { concurrency = 1, log } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const queue = createJobQueue({ concurrency, waiting: MAX_WAITING })
  const closing = new AbortController()
  const idle = new Map<DecoderProcess, NodeJS.Timeout>()

  function takeProcess(): DecoderProcess {
    for (const [process, timer] of idle) {
      clearTimeout(timer)
      idle.delete(process)
      if (!process.ended) return process
    }
    const process = new DecoderProcess(limits)
    log?.debug({ pid: process.pid }, 'picture decoder started')
    return process
  }

  function giveBack(process: DecoderProcess): void {
    if (process.ended) return
    const timer = setTimeout(() => {
      idle.delete(process)
      process.kill('it was idle')
    }, limits.idleMs)
    idle.set(process, timer.unref())
  }

  async function renderNow(job: RenderJob, signal: AbortSignal): Promise<RenderAnswer> {
    const process = takeProcess()
    try {
      const answer = await process.render(job, signal)
      if (answer.status === 'killed') log?.warn({ reason: answer.reason }, 'picture decoder ended')
      return answer
    } finally {
      if (closing.signal.aborted) process.kill('the server stops')
      else giveBack(process)
    }
  }

  return {
    async render(job, signal) {
      const sizeBytes = job.frame.data.length + (job.frame.extradata?.length ?? 0)
      if (sizeBytes > MAX_KEY_FRAME_BYTES) {
        return { status: 'undecodable', reason: 'the picture is too large' }
      }
      const either = AbortSignal.any([signal, closing.signal])
      return queue.run(() => renderNow(job, either), either)
    },
    close() {
      closing.abort(new Error('The picture decoder is closed'))
      for (const [process, timer] of idle) {
        clearTimeout(timer)
        process.kill('the server stops')
      }
      idle.clear()
    },
  }
}
