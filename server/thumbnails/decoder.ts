// Decodes pictures in processes of their own, so that a hostile file costs one picture and never the site.
import { childFile } from '../decoder-child/child-file.ts'
import { createDecoderPool } from '../decoder-child/decoder-pool.ts'
import type { DecoderLog } from '../decoder-child/decoder-pool.ts'
import type { DecoderLimits } from '../decoder-child/decoder-process.ts'
import type { JobFigures } from '../decoder-child/job-queue.ts'
import { MAX_KEY_FRAME_BYTES } from './render-message.ts'
import type { RenderedImage, RenderJob } from './render-message.ts'

/** What became of a job. `killed`: the process ended under it, by a crash or because it passed a limit. */
export type RenderResult =
  | { status: 'rendered'; image: RenderedImage }
  | { status: 'undecodable'; reason: string }
  | { status: 'killed'; reason: string }

export interface Decoder {
  readonly figures: JobFigures
  /**
   * Decodes, scales and encodes one key frame. Rejects with AppError `busy` where too many jobs wait, `failed` where
   * no decoder process starts, and with the signal's reason.
   */
  render(job: RenderJob, signal: AbortSignal): Promise<RenderResult>
  /** Ends every process; jobs under way reject. */
  close(): void
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
  jobMs: 8_000,
  residentBytes: 512 * 1024 * 1024,
  idleMs: 60_000,
}

/** A decoder whose processes start when first needed, are used again, and end after an idle minute. */
export function createDecoder(options: DecoderOptions = {}): Decoder {
  const { concurrency = 1, log } = options
  const pool = createDecoderPool<RenderJob, RenderedImage>({
    program: {
      file: childFile('decoder-child', import.meta.url),
      name: 'picture decoder',
      environment: { SVT_LOG: '0' },
    },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    queue: {
      concurrency,
      waiting: MAX_WAITING,
      busyMessage: 'Too many pictures are being made at once; try again soon',
    },
    log,
  })

  return {
    get figures() {
      return pool.figures
    },
    async render(job, signal) {
      const sizeBytes = job.frame.data.length + (job.frame.extradata?.length ?? 0)
      if (sizeBytes > MAX_KEY_FRAME_BYTES) {
        return { status: 'undecodable', reason: 'the picture is too large' }
      }
      const answer = await pool.run(job, signal)
      return answer.status === 'done' ? { status: 'rendered', image: answer.value } : answer
    },
    close: () => pool.close(),
  }
}
