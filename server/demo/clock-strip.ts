// The bar below every scene with a running time code, drawn and encoded once per second of the
// longest session.
import type { CodedFrame } from './video-encoder.ts'
import { VideoEncoder } from './video-encoder.ts'
import type { Slice } from './slices.ts'

export const STRIP_WIDTH = 960
export const STRIP_HEIGHT = 96

/**
 * The bar's colour as Y, U, V: near black with a touch of blue. The lower edge of scenes fades into
 * it.
 */
export const STRIP_COLOUR = [24, 134, 126] as const
const INK = [222, 128, 128] as const
const DOT = [96, 108, 214] as const

/** Position and dot size of the 5 x 7 digits below, in pixels. */
const LEFT = 76
const TOP = 32
const DOT_SIZE = 5
const CRF = 30

/** Rows of five bits, top to bottom. */
const GLYPHS: Record<string, readonly number[]> = {
  0: [14, 17, 19, 21, 25, 17, 14],
  1: [4, 12, 4, 4, 4, 4, 14],
  2: [14, 17, 1, 2, 4, 8, 31],
  3: [31, 2, 4, 2, 1, 17, 14],
  4: [2, 6, 10, 18, 31, 2, 2],
  5: [31, 16, 30, 1, 1, 17, 14],
  6: [6, 8, 16, 30, 17, 17, 14],
  7: [31, 1, 2, 4, 8, 8, 8],
  8: [14, 17, 17, 14, 17, 17, 14],
  9: [14, 17, 17, 15, 1, 2, 12],
  ':': [0, 4, 4, 0, 4, 4, 0],
}

/** Coded strips for two seconds: a key frame, then its change. */
export interface StripPair {
  even: Slice
  odd: Slice
}

/** Strips for the seconds 0 to `seconds` (exclusive), in pairs; `seconds` is even. */
export function encodeClock(seconds: number): StripPair[] {
  const encoder = new VideoEncoder({
    width: STRIP_WIDTH,
    height: STRIP_HEIGHT,
    crf: CRF,
    gopFrames: 2,
    preset: 'superfast',
  })
  const frame = Buffer.alloc(encoder.frameBytes)
  const coded: CodedFrame[] = []
  for (let second = 0; second < seconds; second++) {
    drawStrip(frame, formatTimeCode(second))
    coded.push(...encoder.push(frame))
  }
  coded.push(...encoder.finish())
  return Array.from({ length: seconds / 2 }, (_, pair) => {
    const [even, odd] = [coded[pair * 2]?.slice, coded[pair * 2 + 1]?.slice]
    if (even === undefined || odd === undefined || !even.isIdr || odd.isIdr) {
      throw new Error('unexpected order of strips')
    }
    return { even, odd }
  })
}

/** `0:04:05`. */
export function formatTimeCode(second: number): string {
  const [minutes, hours] = [Math.floor(second / 60) % 60, Math.floor(second / 3600)]
  return `${hours}:${pad(minutes)}:${pad(second % 60)}`
}

function pad(value: number): string {
  return `${value}`.padStart(2, '0')
}

function drawStrip(frame: Buffer, text: string): void {
  const luma = STRIP_WIDTH * STRIP_HEIGHT
  frame.fill(STRIP_COLOUR[0], 0, luma)
  frame.fill(STRIP_COLOUR[1], luma, luma * 1.25)
  frame.fill(STRIP_COLOUR[2], luma * 1.25)
  fillDisc(frame, { x: LEFT - 30, y: TOP + 17, radius: 9 })
  let x = LEFT
  for (const glyph of text) {
    drawGlyph(frame, x, GLYPHS[glyph] ?? [])
    x += (glyph === ':' ? 5 : 6) * DOT_SIZE + 2
  }
}

function drawGlyph(frame: Buffer, left: number, rows: readonly number[]): void {
  rows.forEach((bits, row) => {
    for (let column = 0; column < 5; column++) {
      if (((bits >> (4 - column)) & 1) === 0) continue
      for (let y = 0; y < DOT_SIZE; y++) {
        const at = (TOP + row * DOT_SIZE + y) * STRIP_WIDTH + left + column * DOT_SIZE
        frame.fill(INK[0], at, at + DOT_SIZE)
      }
    }
  })
}

/** The recording light. */
function fillDisc(frame: Buffer, disc: { x: number; y: number; radius: number }): void {
  const luma = STRIP_WIDTH * STRIP_HEIGHT
  const isInside = (x: number, y: number) => Math.hypot(x - disc.x, y - disc.y) <= disc.radius
  for (let y = disc.y - disc.radius; y <= disc.y + disc.radius; y++) {
    for (let x = disc.x - disc.radius; x <= disc.x + disc.radius; x++) {
      if (!isInside(x, y)) continue
      frame[y * STRIP_WIDTH + x] = DOT[0]
      const chroma = (y >> 1) * (STRIP_WIDTH / 2) + (x >> 1)
      frame[luma + chroma] = DOT[1]
      frame[luma * 1.25 + chroma] = DOT[2]
    }
  }
}
