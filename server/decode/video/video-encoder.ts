// Encodes video in child processes, so that a hostile file costs a segment and never the server.
import { constants } from 'node:os'
import { z } from 'zod'
import { childFile, createDecoderPool } from '../child/decoder-pool.ts'
import type { ChildOptions, DecoderPool } from '../child/decoder-pool.ts'
import type { DecoderLimits, DecoderProgram, JobResult } from '../child/decoder-process.ts'
import { MAX_ENCODED_BYTES } from './video-job.ts'
import type { DescribeJob, EncodedFormat, EncodedFrames, EncodeJob, VideoJob } from './video-job.ts'

/** Result of a job, with the processor time that it took. */
export type EncoderResult<Value> = JobResult<{ value: Value; cpuMs: number }>

export interface VideoEncoder extends Pick<DecoderPool<VideoJob>, 'figures' | 'close'> {
  /**
   * The format of a rendition. Rejects with AppError `busy` if too many jobs wait, `failed` if no
   * process starts, and with the signal's reason.
   */
  describe(job: DescribeJob, signal: AbortSignal): Promise<EncoderResult<EncodedFormat>>
  /** The frames of a segment. The signal also ends a job that runs. Rejects as `describe`. */
  encode(job: EncodeJob, signal: AbortSignal): Promise<EncoderResult<EncodedFrames>>
}

export interface VideoEncoderOptions extends ChildOptions {
  /** Number of processes. */
  concurrency: number
  environment?: DecoderProgram['environment']
}

const MAX_WAITING = 16
const LIMITS: DecoderLimits = {
  startMs: 15_000,
  jobMs: 60_000,
  residentBytes: 1024 * 1024 * 1024,
  cpuSeconds: 600,
  idleMs: 60_000,
}

/** Starts processes on demand, reuses them, and ends them after an idle minute. */
export function createVideoEncoder(options: VideoEncoderOptions): VideoEncoder {
  const { concurrency, environment } = options
  const program = {
    file: childFile('video-child', import.meta.url),
    name: 'video encoder',
    // Serving, and the images and audio of other visitors, have priority.
    niceness: constants.priority.PRIORITY_LOW,
    ...(environment && { environment }),
  }
  const queue = {
    limit: concurrency,
    waiting: MAX_WAITING,
    busyMessage: 'Too many segments are being encoded; try again soon',
  }
  const pool = createDecoderPool<VideoJob>({ program, limits: LIMITS, queue }, options)
  return {
    get figures() {
      return pool.figures
    },
    describe: async (job, signal) =>
      pool.run({ job, parse: (value) => formatShape.safeParse(value).data }, signal),
    encode: async (job, signal) =>
      pool.run({ job, parse: (value) => parseFrames(value, job), stop: signal }, signal),
    close: () => pool.close(),
  }
}

/** Of the renditions, with the widest aspect. */
const size = z.int().min(2).max(4096).multipleOf(2)
const codePoint = z.int().min(0).max(255)

/** An `EncodedFormat`. */
export const encodedFormatShape = z.object({
  width: size,
  height: size,
  primaries: codePoint,
  transfer: codePoint,
  matrix: codePoint,
  config: z.instanceof(Uint8Array).refine(({ length }) => length > 6 && length < 1024),
})

const formatShape = z.object({ value: encodedFormatShape, cpuMs: z.number().nonnegative() })

const framesShape = z.object({
  value: z.object({
    bytes: z.instanceof(Uint8Array),
    sizes: z.instanceof(Uint32Array),
    ticks: z.instanceof(Float64Array),
  }),
  cpuMs: z.number().nonnegative(),
})

/** Undefined unless the frames are at increasing times of recorded ones. */
function parseFrames(value: unknown, { video, startTicks }: EncodeJob) {
  const { data } = framesShape.safeParse(value)
  if (data === undefined || !areFrames(data.value)) return undefined
  const times = new Set(video.ticks).add(startTicks)
  return data.value.ticks.every((ticks) => times.has(ticks)) ? data : undefined
}

/** Whether they can be laid out: at least one, of positive size, at increasing times. */
export function areFrames({ bytes, sizes, ticks }: EncodedFrames): boolean {
  const sizeBytes = sizes.reduce((sum, each) => sum + each, 0)
  return (
    sizes.length > 0 &&
    sizes.length === ticks.length &&
    sizes.every((each) => each > 0) &&
    sizeBytes === bytes.length &&
    sizeBytes <= MAX_ENCODED_BYTES &&
    ticks.every((each, at) => Number.isSafeInteger(each) && each > (ticks[at - 1] ?? -1))
  )
}
