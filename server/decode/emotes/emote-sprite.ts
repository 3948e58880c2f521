// The emotes of a chat as one image, which browsers show in parts.
import type { Gate } from '../../base/admission/gate.ts'
import { isAppError } from '../../base/errors.ts'
import type { Decoder } from '../thumbnails/decoder.ts'
import { EMOTE_HEIGHT } from '../thumbnails/render-message.ts'
import type { SpriteImage } from '../thumbnails/render-message.ts'
import { toThumbnail } from '../thumbnails/thumbnail.ts'

/** An image from a chat file, and the word that it replaces. */
interface Emote {
  name: string
  data: Uint8Array
}

/** Where the pictures are, in pixels. */
export interface SpritePlan {
  /** Changes with the image. */
  version: string
  /** Of the image. */
  width: number
  /** Of each picture. */
  height: number
  list: { name: string; x: number; y: number; width: number }[]
}

export interface RenderedSprite {
  /** Undefined, with the image, if no emote can be decoded. */
  emotes?: SpritePlan
  /** A WebP. */
  image?: Uint8Array
  /** Rendering it again gives the same image. */
  isLasting: boolean
}

export interface SpriteRenderer {
  decoder: Decoder
  /** Admits a sprite, as a thumbnail. */
  gate: Gate
}

/** Emotes beyond this size are left out. An image of noise has less than MAX_ENCODED_BYTES. */
const SPRITE_SIZE = 1024
/** Transparent pixels between pictures, which a page may show at any scale. */
const GAP = 2
/** If more decoders are killed, the other emotes are not tried. */
const MAX_KILLED = 2

/**
 * Decodes one emote after the other, in a child process. One that cannot be decoded is left out.
 * Rejects only with the signal's reason.
 */
export async function renderSprite(
  emotes: readonly Emote[],
  { decoder, gate }: SpriteRenderer,
  signal: AbortSignal,
): Promise<RenderedSprite> {
  try {
    return await gate.run(async () => render(emotes, decoder, signal), signal)
  } catch (error) {
    if (!isAppError(error, 'busy', 'failed')) throw error
    return { isLasting: false }
  }
}

/** Whether these are the bytes of the image of a version. */
export function isSprite(bytes: Uint8Array, version: string): boolean {
  return toThumbnail({ bytes, contentType: 'image/webp' }).version === version
}

async function render(
  images: readonly Emote[],
  decoder: Decoder,
  signal: AbortSignal,
): Promise<RenderedSprite> {
  const list: SpritePlan['list'] = []
  const pictures: SpriteImage['pictures'][number][] = []
  let killed = 0
  let [x, y] = [0, 0]
  for (const { name, data } of images) {
    const result = await decoder.renderEmote({ data }, signal)
    if (result.status === 'killed' && (killed += 1) > MAX_KILLED) break
    if (result.status !== 'done') continue
    const { width, pixels } = result.value
    if (x + width > SPRITE_SIZE) [x, y] = [0, y + EMOTE_HEIGHT + GAP]
    if (y + EMOTE_HEIGHT > SPRITE_SIZE) break
    list.push({ name, x, y, width })
    pictures.push({ x, y, width, pixels })
    x += width + GAP
  }
  if (pictures.length === 0) return { isLasting: killed === 0 }
  const width = Math.max(...list.map((emote) => emote.x + emote.width))
  const size = { width, height: y + EMOTE_HEIGHT }
  const encoded = await decoder.encodeSprite({ ...size, pictures }, signal)
  if (encoded.status !== 'done') return { isLasting: false }
  const { bytes, version } = toThumbnail({ bytes: encoded.value, contentType: 'image/webp' })
  const emotes = { version, width, height: EMOTE_HEIGHT, list }
  return { emotes, image: bytes, isLasting: killed === 0 }
}
