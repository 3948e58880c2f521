// Transcodes sound in processes of their own, so that a hostile file costs a moment of sound and never the site.
import { childFile } from '../decoder-child/child-file.ts'
import { createDecoderPool } from '../decoder-child/decoder-pool.ts'
import type { DecoderLog } from '../decoder-child/decoder-pool.ts'
import type { DecoderLimits, JobResult } from '../decoder-child/decoder-process.ts'
import type { JobFigures } from '../decoder-child/job-queue.ts'
import { MAX_JOB_BYTES, MAX_JOB_FRAMES } from './audio-job.ts'
import type { AudioFrames, AudioJob } from './audio-job.ts'

export interface AudioTranscoder {
  readonly figures: JobFigures
  /**
   * Decodes a piece of sound and encodes it as AAC. Rejects with AppError `busy` where too many pieces wait, `failed`
   * where no process starts, and with the signal's reason.
   */
  transcode(job: AudioJob, signal: AbortSignal): Promise<JobResult<AudioFrames>>
  /** Ends every process; pieces under way reject. */
  close(): void
}

export interface AudioTranscoderOptions {
  log?: DecoderLog
  limits?: Partial<DecoderLimits>
}

const CONCURRENCY = 2
const MAX_WAITING = 64
const DEFAULT_LIMITS: DecoderLimits = {
  startMs: 8000,
  jobMs: 8000,
  residentBytes: 512 * 1024 * 1024,
  idleMs: 60_000,
}

/** A transcoder whose processes start when first needed, are used again, and end after an idle minute. */
export function createAudioTranscoder(options: AudioTranscoderOptions = {}): AudioTranscoder {
  const pool = createDecoderPool<AudioJob, AudioFrames>({
    program: { file: childFile('audio-child', import.meta.url), name: 'sound transcoder' },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    queue: {
      concurrency: CONCURRENCY,
      waiting: MAX_WAITING,
      busyMessage: 'Too much sound is being transcoded at once; try again soon',
    },
    log: options.log,
  })
  return {
    get figures() {
      return pool.figures
    },
    async transcode(job, signal) {
      const isTooLarge = job.packets.bytes.length > MAX_JOB_BYTES
      if (isTooLarge || job.toFrame - job.fromFrame > MAX_JOB_FRAMES) {
        return { status: 'undecodable', reason: 'the piece of sound is too large' }
      }
      return pool.run(job, signal)
    },
    close: () => pool.close(),
  }
}
