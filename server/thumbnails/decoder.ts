// Decodes key frames in child processes, so that a hostile file costs one image and never the
// server.
import { childFile } from '../decoder-child/child-file.ts'
import { createDecoderPool } from '../decoder-child/decoder-pool.ts'
import type { JobFigures } from '../decoder-child/decoder-pool.ts'
import type { DecoderLimits } from '../decoder-child/decoder-process.ts'
import { createSandbox } from '../decoder-child/sandbox.ts'
import type { DecoderLog, Sandbox } from '../decoder-child/sandbox.ts'
import { MAX_KEY_FRAME_BYTES } from './render-message.ts'
import type { RenderedImage, RenderJob } from './render-message.ts'

/**
 * Result of a job. `killed`: the process ended during the job, by a crash or by exceeding a limit.
 */
export type RenderResult =
  | { status: 'rendered'; image: RenderedImage }
  | { status: 'undecodable'; reason: string }
  | { status: 'killed'; reason: string }

export interface Decoder {
  readonly figures: JobFigures
  /**
   * Decodes, scales and encodes one key frame. Rejects with AppError `busy` if too many jobs wait,
   * `failed` if no decoder process starts, and with the signal's reason.
   */
  render(job: RenderJob, signal: AbortSignal): Promise<RenderResult>
  /** Ends every process; jobs in progress reject. */
  close(): void
}

export interface DecoderOptions {
  /** Number of processes, 1 by default. */
  concurrency?: number
  limits?: Partial<DecoderLimits>
  log?: DecoderLog
  /** Shared with other decoders, so that detection runs once. */
  sandbox?: Sandbox
}

const MAX_WAITING = 64
const DEFAULT_LIMITS: DecoderLimits = {
  startMs: 15_000,
  jobMs: 8_000,
  residentBytes: 512 * 1024 * 1024,
  cpuSeconds: 300,
  idleMs: 60_000,
}

/** Starts processes on demand, reuses them, and ends them after an idle minute. */
export function createDecoder(options: DecoderOptions = {}): Decoder {
  const { concurrency = 1, log, sandbox = createSandbox({ log }) } = options
  const pool = createDecoderPool<RenderJob, RenderedImage>({
    program: {
      file: childFile('decoder-child', import.meta.url),
      name: 'image decoder',
      environment: { SVT_LOG: '0' },
    },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    queue: {
      limit: concurrency,
      waiting: MAX_WAITING,
      busyMessage: 'Too many thumbnails are being rendered; try again soon',
    },
    sandbox,
    log,
  })

  return {
    get figures() {
      return pool.figures
    },
    async render(job, signal) {
      const sizeBytes = job.frame.data.length + (job.frame.extradata?.length ?? 0)
      if (sizeBytes > MAX_KEY_FRAME_BYTES) {
        return { status: 'undecodable', reason: 'the key frame is too large' }
      }
      const result = await pool.run(job, signal)
      return result.status === 'done' ? { status: 'rendered', image: result.value } : result
    },
    close: () => pool.close(),
  }
}
