// Transcodes sound in processes of their own, so that a hostile file costs a moment of sound and never the site.
import { childFile } from '../decoder-child/child-file.ts'
import { createDecoderPool } from '../decoder-child/decoder-pool.ts'
import type { DecoderLog } from '../decoder-child/decoder-pool.ts'
import type { DecoderLimits, JobAnswer } from '../decoder-child/decoder-process.ts'
import { MAX_JOB_BYTES, MAX_JOB_FRAMES } from './sound-job.ts'
import type { SoundFrames, SoundJob } from './sound-job.ts'

export interface SoundTranscoder {
  /**
   * Decodes a piece of sound and encodes it as AAC. Rejects with AppError `busy` where too many pieces wait, `failed`
   * where no process starts, and with the signal's reason.
   */
  transcode(job: SoundJob, signal: AbortSignal): Promise<JobAnswer<SoundFrames>>
  /** Ends every process; pieces under way reject. */
  close(): void
}

export interface SoundTranscoderOptions {
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
export function createSoundTranscoder(options: SoundTranscoderOptions = {}): SoundTranscoder {
  const pool = createDecoderPool<SoundJob, SoundFrames>({
    program: { file: childFile('sound-child', import.meta.url), name: 'sound transcoder' },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    queue: {
      concurrency: CONCURRENCY,
      waiting: MAX_WAITING,
      busyMessage: 'Too much sound is being transcoded at once; try again soon',
    },
    log: options.log,
  })
  return {
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
