// Sprites of emotes, rendered by a child process from real images, bombs and other bytes.
import { createHash, randomFillSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BLUE,
  GREEN,
  makeAnimatedWebp,
  makeGif,
  makePng,
  makeWebp,
  RED,
} from '../../../test/support/make/make-emotes.ts'
import type { Colour } from '../../../test/support/make/make-emotes.ts'
import { patientDecoder } from '../../../test/support/patience.ts'
import { Gate } from '../../base/admission/gate.ts'
import { AppError } from '../../base/errors.ts'
import { createDecoder } from '../thumbnails/decoder.ts'
import type { Decoder } from '../thumbnails/decoder.ts'
import { renderEmote } from '../thumbnails/render-emote.ts'
import { renderSprite } from './emote-sprite.ts'

const { signal } = new AbortController()
const gate = new Gate({ limit: 1, waiting: 1, busyMessage: 'busy' })
const square = { width: 56, height: 56 }
const wide = { width: 112, height: 56 }

let decoder: Decoder
beforeAll(() => (decoder = createDecoder({ limits: patientDecoder })))
afterAll(() => decoder.close())

const render = async (images: Record<string, Buffer>) =>
  renderSprite(
    Object.entries(images).map(([name, data]) => ({ name, data })),
    { decoder, gate },
    signal,
  )

/** Red, green, blue and alpha in a sprite of one row, which has the size of an emote. */
function pixelAt(image: Uint8Array | undefined, x: number, y: number): number[] {
  const { width, pixels } = renderEmote({ data: image ?? new Uint8Array() })
  const [blue = 0, green = 0, red = 0, alpha = 0] = pixels.subarray((y * width + x) * 4)
  return [red, green, blue, alpha]
}

/** WebP is lossy. */
function expectColour([red = 0, green = 0, blue = 0, alpha]: number[], colour: Colour): void {
  const distance = Math.hypot(red - colour[0], green - colour[1], blue - colour[2])
  expect(distance, [red, green, blue].join()).toBeLessThan(12)
  expect(alpha).toBe(255)
}

/** The image with a number of its header replaced. */
function patched(image: Buffer, write: (copy: Buffer) => unknown): Buffer {
  const copy = Buffer.from(image)
  write(copy)
  return copy
}

/** The lossy image in a WebP with another size, in its key frame, too (RFC 6386 9.1). */
function enlarged(webp: Buffer, sizeAt: number): Buffer {
  return patched(webp, (copy) => {
    const start = copy.indexOf(Buffer.from([0x9d, 0x01, 0x2a])) + 3
    for (const at of [sizeAt, sizeAt + 3]) copy.writeUIntLE(15_999, at, 3)
    for (const at of [start, start + 2]) copy.writeUInt16LE(16_000, at)
  })
}

describe('a sprite', () => {
  it('has the first picture of each emote, at the same height', async () => {
    const { emotes, image, isLasting } = await render({
      png: makePng({ width: 28, height: 28 }, RED),
      gif: makeGif(square, [GREEN, RED]),
      wide: makeWebp({ width: 224, height: 112 }, BLUE),
    })
    expect(emotes).toEqual({
      version: createHash('sha256')
        .update(image ?? '')
        .digest('base64url')
        .slice(0, 22),
      width: 228,
      height: 56,
      list: [
        { name: 'png', x: 0, y: 0, width: 56 },
        { name: 'gif', x: 58, y: 0, width: 56 },
        { name: 'wide', x: 116, y: 0, width: 112 },
      ],
    })
    expect(isLasting).toBe(true)
  })

  it('shows discs on transparency, of still and animated images', async () => {
    const { emotes, image } = await render({
      gif: makeGif(square, [RED, BLUE]),
      animated: makeAnimatedWebp(square, [GREEN, RED, BLUE]),
      webp: makeWebp(square, BLUE, { lossless: '1' }),
    })
    expect(emotes?.width).toBe(172)
    for (const [at, colour] of [RED, GREEN, BLUE].entries()) {
      expectColour(pixelAt(image, at * 58 + 28, 28), colour)
      expect(pixelAt(image, at * 58 + 1, 1)[3]).toBe(0)
      expect(pixelAt(image, at * 58 + 56, 28)[3]).toBe(0)
    }
  })

  it('leaves out bombs, what is too wide, truncated images and other bytes', async () => {
    const png = makePng(square, RED)
    const animated = makeAnimatedWebp(square, [GREEN, RED])
    const webp = makeWebp(square, BLUE)
    const lossless = makeWebp(square, GREEN, { lossless: '1' })
    const { emotes, isLasting } = await render({
      empty: Buffer.alloc(0),
      text: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      noise: randomFillSync(Buffer.alloc(1000)),
      'png of 900 megapixels': patched(png, (copy) => {
        copy.writeUInt32BE(30_000, 16)
        copy.writeUInt32BE(30_000, 20)
      }),
      'png of 1.1 megapixels': makePng({ width: 1060, height: 1060 }, RED),
      'gif of 3,600 megapixels': patched(makeGif(square, [RED]), (copy) => {
        copy.writeUInt16LE(60_000, 6)
        copy.writeUInt16LE(60_000, 8)
      }),
      'animation of 256 megapixels': enlarged(animated, 24),
      'frame of 256 megapixels': enlarged(animated, animated.indexOf('ANMF') + 14),
      'webp of 256 megapixels': enlarged(webp, 24),
      // 14 bits each, after a signature (RFC 9649 3.4).
      'lossless webp of 256 megapixels': patched(lossless, (copy) => {
        copy.writeUInt32LE(0x1fff_ffff, copy.indexOf('VP8L') + 9)
      }),
      'too wide': makePng({ width: 300, height: 56 }, RED),
      transparent: patched(makeGif(square, [RED]), (copy) => copy.fill(127, 440, 600)),
      truncated: png.subarray(0, png.length / 2),
      'truncated animation': animated.subarray(0, 60),
      good: png,
    })
    expect(emotes?.list.map(({ name }) => name)).toEqual(['good'])
    expect(isLasting).toBe(true)
  })

  it('has no image of no emotes', async () => {
    expect(await render({})).toEqual({ isLasting: true })
    expect(await render({ broken: Buffer.from('AAAA', 'base64') })).toEqual({ isLasting: true })
  })

  it('has as many emotes as fit, and less than the largest image of noise', async () => {
    const data = makePng(wide, RED)
    const images = Array.from({ length: 200 }, (_, nth) => [String(nth), data] as const)
    const { emotes, image } = await render(Object.fromEntries(images))
    expect(emotes?.list).toHaveLength(17 * 9)
    expect(emotes?.list.every(({ x, y, width }) => x + width <= 1024 && y + 56 <= 1024)).toBe(true)
    expect(image?.length).toBeLessThan(100_000)
    const pixels = () => randomFillSync(new Uint8Array(224 * 56 * 4))
    const places = Array.from({ length: 4 * 17 }, (_, nth) => [nth % 4, Math.floor(nth / 4)])
    const encoded = await decoder.encodeSprite(
      {
        width: 1024,
        height: 1024,
        pictures: places.map(([column = 0, row = 0]) => {
          return { x: column * 226, y: row * 58, width: 224, pixels: pixels() }
        }),
      },
      signal,
    )
    expect(encoded.status).toBe('done')
  })
})

describe('a sprite that may look otherwise later', () => {
  const png = makePng(square, RED)
  const emotes = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, data: png }))
  /** A decoder that fails. */
  const failing = (renderEmote: Decoder['renderEmote']): Decoder => ({ ...decoder, renderEmote })

  it('lacks emotes that kill the decoder, of which only three are tried', async () => {
    let tried = 0
    const killed = { status: 'killed', reason: 'it crashed' } as const
    const broken = failing(async () => {
      tried += 1
      return Promise.resolve(killed)
    })
    const rendered = await renderSprite(emotes, { decoder: broken, gate }, signal)
    expect([rendered, tried]).toEqual([{ isLasting: false }, 3])
    const once = failing(async (image, each) =>
      (tried += 1) === 4 ? killed : decoder.renderEmote(image, each),
    )
    const { emotes: drawn, isLasting } = await renderSprite(emotes, { decoder: once, gate }, signal)
    expect(drawn?.list.map(({ name }) => name)).toEqual(['b', 'c', 'd', 'e'])
    expect(isLasting).toBe(false)
  })

  it('is absent while no decoder starts, or none is free', async () => {
    for (const code of ['failed', 'busy'] as const) {
      const none = failing(async () => Promise.reject(new AppError(code, 'no decoder')))
      const rendered = await renderSprite(emotes, { decoder: none, gate }, signal)
      expect(rendered).toEqual({ isLasting: false })
    }
  })
})
