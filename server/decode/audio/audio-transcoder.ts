// Transcodes audio in child processes, so that a hostile file costs a moment of audio and never the
// server.
import { z } from 'zod'
import { childFile, createDecoderPool } from '../child/decoder-pool.ts'
import type { ChildOptions, DecoderPool } from '../child/decoder-pool.ts'
import type { DecoderLimits, JobResult } from '../child/decoder-process.ts'
import { MAX_FRAME_BYTES, MAX_JOB_BYTES, MAX_JOB_FRAMES } from './audio-job.ts'
import type { AudioFrames, AudioJob } from './audio-job.ts'

export interface AudioTranscoder extends Pick<DecoderPool<AudioJob>, 'figures' | 'close'> {
  /**
   * Decodes a segment of audio and encodes it as AAC. Rejects with AppError `busy` if too many
   * segments wait, `failed` if no process starts, and with the signal's reason.
   */
  transcode(job: AudioJob, signal: AbortSignal): Promise<JobResult<AudioFrames>>
}

const CONCURRENCY = 2
/** More than two jobs of each segment that is admitted: see `base/admission/limits.ts`. */
const MAX_WAITING = 16
const LIMITS: DecoderLimits = {
  startMs: 8000,
  jobMs: 8000,
  residentBytes: 512 * 1024 * 1024,
  cpuSeconds: 300,
  idleMs: 60_000,
}

/** Starts processes on demand, reuses them, and ends them after an idle minute. */
export function createAudioTranscoder(options?: ChildOptions): AudioTranscoder {
  const program = { file: childFile('audio-child', import.meta.url), name: 'audio transcoder' }
  const queue = {
    limit: CONCURRENCY,
    waiting: MAX_WAITING,
    busyMessage: 'Too many audio segments are being transcoded; try again soon',
  }
  const pool = createDecoderPool<AudioJob>({ program, limits: LIMITS, queue }, options)
  return {
    get figures() {
      return pool.figures
    },
    async transcode(job, signal) {
      const isTooLarge = job.packets.bytes.length > MAX_JOB_BYTES
      if (isTooLarge || job.toFrame - job.fromFrame > MAX_JOB_FRAMES) {
        return { status: 'undecodable', reason: 'the audio segment is too large' }
      }
      return pool.run({ job, parse: (value) => parseFrames(value, job) }, signal)
    },
    close: () => pool.close(),
  }
}

const framesShape = z.object({
  bytes: z.instanceof(Uint8Array),
  sizes: z.instanceof(Uint32Array),
})

/** Undefined unless there is each requested frame. */
function parseFrames(value: unknown, { fromFrame, toFrame }: AudioJob): AudioFrames | undefined {
  const { data } = framesShape.safeParse(value)
  if (data === undefined || data.sizes.length !== toFrame - fromFrame) return undefined
  const sizeBytes = data.sizes.reduce((sum, size) => sum + size, 0)
  const isBounded = data.sizes.every((size) => size > 0 && size <= MAX_FRAME_BYTES)
  return isBounded && sizeBytes === data.bytes.length ? data : undefined
}
