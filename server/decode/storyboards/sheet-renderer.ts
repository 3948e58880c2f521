// Renders a sheet from its key frames: decodes each once, and composes and encodes the tiles.
import { LRUCache } from 'lru-cache'
import { AppError, isAppError } from '../../base/errors.ts'
import type { KeyFrame } from '../../media/media-index.ts'
import type { KeyFrameFile, PartFrames } from '../../media/media-reader.ts'
import type { Decoder } from '../thumbnails/decoder.ts'
import { copyPlanes, createBlackImage } from '../thumbnails/planar-image.ts'
import type { ClaimedBytes } from '../../storage/artifacts/claimed-cache.ts'
import type { PlanarImage } from '../thumbnails/render-message.ts'
import { SHEET_COLUMNS, TILE_WIDTH } from './plan-storyboard.ts'
import type { FramePosition } from './plan-storyboard.ts'
import type { Sheet } from './sheets.ts'

/** A frame. `killed`: the decoder ended; `unread`: not read or not tried. Both may change. */
type Tile =
  | { status: 'decoded'; planes: Uint8Array }
  | { status: 'undecodable' | 'killed' | 'unread' }

/** Key frames that are read at once: the next ones while one is decoded. */
const FRAMES_AT_ONCE = 3
/** If more decoders are killed, now or before, the other frames of a sheet are not tried. */
const MAX_KILLED = 2
/** Tiles of growing recordings and of interrupted sheets: a usual tile has 22 KB. */
const MAX_TILE_BYTES = 16 * 1024 * 1024
/** What is stored of a frame without planes. */
const UNUSABLE_BYTES = 256
/** Before a frame that has killed the decoder is tried again. */
const RETRY_MS = 60 * 60 * 1000

export class SheetRenderer {
  readonly #decoder: Decoder
  /** Decoded tiles; the key has identity, split point and height. */
  readonly #tiles = new LRUCache<string, Tile>({
    maxSize: MAX_TILE_BYTES,
    sizeCalculation: (tile) =>
      UNUSABLE_BYTES + (tile.status === 'decoded' ? tile.planes.length : 0),
  })

  constructor(decoder: Decoder) {
    this.#decoder = decoder
  }

  /**
   * A frame that cannot be decoded shows the nearest one of the sheet that can, or is black.
   *
   * @throws AppError `gone`, `not_found`, `busy`, `failed`; the signal's reason
   */
  async render(
    sheet: Sheet,
    parts: readonly PartFrames[],
    signal: AbortSignal,
  ): Promise<ClaimedBytes> {
    const tiles = await this.#decodeAll(sheet, parts, signal)
    const isLasting = tiles.every(({ status }) => status === 'decoded' || status === 'undecodable')
    const result = await this.#decoder.encodeSheet(composeSheet(tiles, sheet.tileHeight), signal)
    if (result.status === 'done') return { bytes: result.value, isLasting }
    throw new AppError('failed', 'the images cannot be encoded', { cause: result.reason })
  }

  /** One tile per frame of the sheet. */
  async #decodeAll(
    sheet: Sheet,
    parts: readonly PartFrames[],
    signal: AbortSignal,
  ): Promise<Tile[]> {
    const files = new OpenFiles(parts)
    const work = { sheet, parts, files, signal }
    const decoded = new Map<string, Tile>()
    const waiting = new Map(sheet.frames.map((frame) => [keyOf(frame), frame]))
    let killed = 0
    const decodeNext = async (): Promise<void> => {
      for (const [key, frame] of waiting) {
        waiting.delete(key)
        const tile =
          this.#tiles.get(this.#tileKey(frame, work)) ?? (await this.#decode(frame, work))
        decoded.set(key, tile)
        if (tile.status === 'killed') killed += 1
        if (killed > MAX_KILLED) waiting.clear()
      }
    }
    const errors: unknown[] = []
    const stop = (error: unknown): void => {
      waiting.clear()
      errors.push(error)
    }
    await Promise.all(Array.from({ length: FRAMES_AT_ONCE }, async () => decodeNext().catch(stop)))
    await this.#close(work)
    if (errors.length > 0) throw errors[0]
    const tiles = sheet.frames.map((frame) => decoded.get(keyOf(frame)) ?? UNREAD)
    // A whole sheet that cannot be read is no image, as a recording without any.
    if (files.failure !== undefined && tiles.every(({ status }) => status !== 'decoded'))
      throw files.failure
    return tiles
  }

  /** Removes the tiles of recordings that have changed, also those of an interrupted sheet. */
  async #close(work: SheetWork): Promise<void> {
    try {
      await work.files.checkUnchanged()
    } catch (error) {
      for (const frame of work.sheet.frames) this.#tiles.delete(this.#tileKey(frame, work))
      throw error
    } finally {
      await work.files.close()
    }
  }

  async #decode(frame: FramePosition, work: SheetWork): Promise<Tile> {
    const { sheet, files, signal } = work
    signal.throwIfAborted()
    const keyFrame = await files.read(frame)
    if (keyFrame === 'failed') return UNREAD
    if (keyFrame === undefined) return { status: 'undecodable' }
    const job = { frame: keyFrame, width: TILE_WIDTH, height: sheet.tileHeight }
    const result = await this.#decoder.renderTile(job, signal)
    const tile: Tile =
      result.status === 'done'
        ? { status: 'decoded', planes: result.value }
        : { status: result.status }
    const ttl = tile.status === 'killed' ? RETRY_MS : 0
    this.#tiles.set(this.#tileKey(frame, work), tile, { ttl })
    return tile
  }

  #tileKey({ part, splitPoint }: FramePosition, { sheet, parts }: SheetWork): string {
    return `${parts[part]?.identity} ${splitPoint} ${sheet.tileHeight}`
  }
}

const UNREAD: Tile = { status: 'unread' }

interface SheetWork {
  sheet: Sheet
  parts: readonly PartFrames[]
  files: OpenFiles
  signal: AbortSignal
}

/** The recordings of a sheet, each opened once. */
class OpenFiles {
  readonly #parts: readonly PartFrames[]
  readonly #files = new Map<number, Promise<KeyFrameFile>>()
  /** Why a frame was not read. */
  failure: unknown

  constructor(parts: readonly PartFrames[]) {
    this.#parts = parts
  }

  /** Undefined for a frame whose bytes are corrupt. `failed`: its bytes cannot be read now. */
  async read({ part, splitPoint }: FramePosition): Promise<KeyFrame | 'failed' | undefined> {
    const opened = this.#files.get(part) ?? this.#parts[part]?.open()
    if (opened === undefined) return undefined
    this.#files.set(part, opened)
    const file = await opened
    try {
      return await file.read(splitPoint)
    } catch (error) {
      if (isAppError(error, 'unplayable')) return undefined
      if (!isAppError(error, 'failed')) throw error
      this.failure = error
      return 'failed'
    }
  }

  async checkUnchanged(): Promise<void> {
    for (const file of await Promise.all(this.#files.values())) await file.checkUnchanged()
  }

  /** Never rejects. */
  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#files.values())
    const files = opened.flatMap((file) => (file.status === 'fulfilled' ? [file.value] : []))
    await Promise.allSettled(files.map(async (file) => file.close()))
  }
}

function keyOf({ part, splitPoint }: FramePosition): string {
  return `${part} ${splitPoint}`
}

/** A tile without a frame shows the one before it, or else the one after it, or is black. */
function composeSheet(tiles: readonly Tile[], tileHeight: number): PlanarImage {
  const rows = Math.ceil(tiles.length / SHEET_COLUMNS)
  const sheet = createBlackImage({ width: SHEET_COLUMNS * TILE_WIDTH, height: rows * tileHeight })
  let shown = tiles.find((tile) => tile.status === 'decoded')
  for (const [at, tile] of tiles.entries()) {
    if (tile.status === 'decoded') shown = tile
    if (shown === undefined) break
    const x = (at % SHEET_COLUMNS) * TILE_WIDTH
    const y = Math.floor(at / SHEET_COLUMNS) * tileHeight
    copyPlanes({ width: TILE_WIDTH, height: tileHeight, planes: shown.planes }, sheet, { x, y })
  }
  return sheet
}
