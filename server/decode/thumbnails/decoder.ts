// Decodes key frames in child processes, so that a hostile file costs one image and never the
// server.
import { constants } from 'node:os'
import { z } from 'zod'
import { childFile, createDecoderPool } from '../child/decoder-pool.ts'
import type { ChildOptions, DecoderPool } from '../child/decoder-pool.ts'
import type { DecoderLimits, JobResult } from '../child/decoder-process.ts'
import type { KeyFrame } from '../../media/media-index.ts'
import { sniffImageType } from './image-format.ts'
import type { ImageType } from './image-format.ts'
import {
  BYTES_PER_PIXEL,
  EMOTE_HEIGHT,
  MAX_EMOTE_WIDTH,
  MAX_ENCODED_BYTES,
  MAX_KEY_FRAME_BYTES,
  planeBytes,
} from './render-message.ts'
import type {
  DecoderJob,
  EmoteImage,
  EmotePicture,
  PlanarImage,
  RenderedImage,
  RenderJob,
  SpriteImage,
  TileJob,
} from './render-message.ts'

export interface Decoder extends Pick<DecoderPool<DecoderJob>, 'figures' | 'close'> {
  /**
   * Decodes, scales and encodes one key frame. Rejects with AppError `busy` if too many jobs wait,
   * `failed` if no decoder process starts, and with the signal's reason.
   */
  render(job: RenderJob, signal: AbortSignal): Promise<JobResult<RenderedImage>>
  /** Decodes one key frame into the planes of a tile. Rejects as `render`. */
  renderTile(job: TileJob, signal: AbortSignal): Promise<JobResult<Uint8Array>>
  /** Encodes a sheet of tiles as JPEG. Rejects as `render`. */
  encodeSheet(sheet: PlanarImage, signal: AbortSignal): Promise<JobResult<Uint8Array>>
  /** Decodes the first picture of an emote, and scales it. Rejects as `render`. */
  renderEmote(image: EmoteImage, signal: AbortSignal): Promise<JobResult<EmotePicture>>
  /** Encodes pictures as one WebP. Rejects as `render`. */
  encodeSprite(sprite: SpriteImage, signal: AbortSignal): Promise<JobResult<Uint8Array>>
}

const MAX_WAITING = 64
const LIMITS: DecoderLimits = {
  startMs: 15_000,
  jobMs: 8_000,
  residentBytes: 512 * 1024 * 1024,
  cpuSeconds: 300,
  idleMs: 60_000,
}

/** Starts a process on demand, reuses it, and ends it after an idle minute. */
export function createDecoder(options?: ChildOptions): Decoder {
  const program = {
    file: childFile('decoder-child', import.meta.url),
    name: 'image decoder',
    // Serving has priority over decoding, but a client waits for the image.
    niceness: constants.priority.PRIORITY_BELOW_NORMAL,
    environment: { SVT_LOG: '0' },
  }
  const queue = {
    limit: 1,
    waiting: MAX_WAITING,
    busyMessage: 'Too many thumbnails are being rendered; try again soon',
  }
  const pool = createDecoderPool<DecoderJob>({ program, limits: LIMITS, queue }, options)

  return {
    get figures() {
      return pool.figures
    },
    async render(job, signal) {
      if (isTooLarge(job.frame)) return TOO_LARGE
      const type: ImageType = `image/${job.format}`
      const parse = (value: unknown): RenderedImage | undefined => {
        const { data } = renderedShape.safeParse(value)
        return data && parseEncoded(data.bytes, type) && data
      }
      return pool.run({ job: { kind: 'image', ...job }, parse }, signal)
    },
    async renderTile(job, signal) {
      if (isTooLarge(job.frame)) return TOO_LARGE
      const parse = (value: unknown): Uint8Array | undefined =>
        value instanceof Uint8Array && value.length === planeBytes(job) ? value : undefined
      return pool.run({ job: { kind: 'tile', ...job }, parse }, signal)
    },
    async encodeSheet(sheet, signal) {
      const parse = (value: unknown): Uint8Array | undefined => parseEncoded(value, 'image/jpeg')
      return pool.run({ job: { kind: 'sheet', ...sheet }, parse }, signal)
    },
    async renderEmote(image, signal) {
      const parse = (value: unknown) => pictureShape.safeParse(value).data
      return pool.run({ job: { kind: 'emote', ...image }, parse }, signal)
    },
    async encodeSprite(sprite, signal) {
      const parse = (value: unknown): Uint8Array | undefined => parseEncoded(value, 'image/webp')
      return pool.run({ job: { kind: 'sprite', ...sprite }, parse }, signal)
    },
    close: () => pool.close(),
  }
}

const TOO_LARGE = { status: 'undecodable', reason: 'the key frame is too large' } as const

const renderedShape = z.object({
  bytes: z.instanceof(Uint8Array),
  width: z.int().positive(),
  height: z.int().positive(),
  meanLuma: z.number(),
  lumaDeviation: z.number(),
  hasErrors: z.boolean(),
})

const pictureShape = z
  .object({ width: z.int().positive().max(MAX_EMOTE_WIDTH), pixels: z.instanceof(Uint8Array) })
  .refine(({ width, pixels }) => pixels.length === width * EMOTE_HEIGHT * BYTES_PER_PIXEL)

function isTooLarge({ data, extradata }: KeyFrame): boolean {
  return data.length + (extradata?.length ?? 0) > MAX_KEY_FRAME_BYTES
}

function parseEncoded(value: unknown, type: ImageType): Uint8Array | undefined {
  const isEncoded = value instanceof Uint8Array && value.length <= MAX_ENCODED_BYTES
  return isEncoded && sniffImageType(value) === type ? value : undefined
}
