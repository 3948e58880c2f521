// Decodes key frames in child processes, so that a hostile file costs one image and never the
// server.
import { childFile } from '../decoder-child/child-file.ts'
import { createDecoderPool } from '../decoder-child/decoder-pool.ts'
import type { JobFigures } from '../decoder-child/decoder-pool.ts'
import type { DecoderLimits, JobResult } from '../decoder-child/decoder-process.ts'
import { createSandbox } from '../decoder-child/sandbox.ts'
import type { DecoderLog, Sandbox } from '../decoder-child/sandbox.ts'
import type { KeyFrame } from '../media/media-index.ts'
import { MAX_KEY_FRAME_BYTES, MAX_SHEET_BYTES, planeBytes } from './render-message.ts'
import type {
  DecoderJob,
  PlanarImage,
  RenderedImage,
  RenderJob,
  TileJob,
} from './render-message.ts'

/**
 * Result of a job. `killed`: the process ended during the job, by a crash or by exceeding a limit.
 */
export type RenderResult =
  | { status: 'rendered'; image: RenderedImage }
  | { status: 'undecodable'; reason: string }
  | { status: 'killed'; reason: string }

/** As a `RenderResult`, with the planes of a tile or the bytes of a JPEG. */
export type BytesResult = JobResult<Uint8Array>

export interface Decoder {
  readonly figures: JobFigures
  /**
   * Decodes, scales and encodes one key frame. Rejects with AppError `busy` if too many jobs wait,
   * `failed` if no decoder process starts, and with the signal's reason.
   */
  render(job: RenderJob, signal: AbortSignal): Promise<RenderResult>
  /** Decodes one key frame into the planes of a tile. Rejects as `render`. */
  renderTile(job: TileJob, signal: AbortSignal): Promise<BytesResult>
  /** Encodes a sheet of tiles as JPEG. Rejects as `render`. */
  encodeSheet(sheet: PlanarImage, signal: AbortSignal): Promise<BytesResult>
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
  const pool = createDecoderPool<DecoderJob, RenderedImage | Uint8Array>({
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
      if (isTooLarge(job.frame)) return TOO_LARGE
      const result = await pool.run({ kind: 'image', ...job }, signal)
      if (result.status !== 'done') return result
      if (result.value instanceof Uint8Array) return UNEXPECTED
      return { status: 'rendered', image: result.value }
    },
    async renderTile(job, signal) {
      if (isTooLarge(job.frame)) return TOO_LARGE
      const result = await pool.run({ kind: 'tile', ...job }, signal)
      const bytes = bytesOf(result)
      const isTile = bytes.status !== 'done' || bytes.value.length === planeBytes(job)
      return isTile ? bytes : UNEXPECTED
    },
    async encodeSheet(sheet, signal) {
      const bytes = bytesOf(await pool.run({ kind: 'sheet', ...sheet }, signal))
      const isSheet = bytes.status !== 'done' || bytes.value.length <= MAX_SHEET_BYTES
      return isSheet ? bytes : UNEXPECTED
    },
    close: () => pool.close(),
  }
}

const TOO_LARGE = { status: 'undecodable', reason: 'the key frame is too large' } as const
/** A process that decodes hostile bytes may reply anything. */
const UNEXPECTED = { status: 'killed', reason: 'the decoder replied to another job' } as const

function isTooLarge({ data, extradata }: KeyFrame): boolean {
  return data.length + (extradata?.length ?? 0) > MAX_KEY_FRAME_BYTES
}

function bytesOf(result: JobResult<RenderedImage | Uint8Array>): BytesResult {
  if (result.status !== 'done') return result
  const { value } = result
  return value instanceof Uint8Array ? { status: 'done', value } : UNEXPECTED
}
