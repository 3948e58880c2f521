// Encodes the video of sessions, without encoding every frame of an hour: a loop of a scene, and
// the running clock below it. Runs in the demo process.
//
// Both are encoded as frames of full size in two H.264 slices, of which each fills one. Slices are
// independent (ISO/IEC 14496-10 7.3.3), so the clock's slice replaces the scene's empty one.
import {
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_P,
  AV_PIX_FMT_PAL8,
  AV_PIX_FMT_YUV420P,
  FF_ENCODER_LIBX264,
} from 'node-av/constants'
import { FilterAPI, Scaler } from 'node-av/api'
import { Frame, Rational } from 'node-av/lib'
import type { CodecContext } from 'node-av/lib'
import { Canvas } from './canvas.ts'
import { encodeFrame, openEncoder } from './encoder.ts'
import type { CodedFrame } from './encoder.ts'
import { SCENE_SIZE } from './scenes.ts'
import type { Scene } from './scenes.ts'

/** Frames per second and per GOP: a key frame every two seconds. */
export const FRAME_RATE = 20
export const GOP_FRAMES = 40
/** An even number of GOPs: the identifiers of key frames alternate. */
export const LOOP_FRAMES = 2 * GOP_FRAMES

const [WIDTH, HEIGHT, SCENE_HEIGHT] = [960, 540, 448]
const FULL_FRAME = { width: WIDTH, height: HEIGHT, format: AV_PIX_FMT_YUV420P } as const
const MACROBLOCKS = (WIDTH / 16) * (SCENE_HEIGHT / 16)
/** Rows over which a scene fades into the bar below. */
const FADE_ROWS = 14
const CLOCK_CRF = 40
const POSTER_QUALITY = 95

/**
 * Slices that fit: no entropy state, weights or references beyond the simplest, and no vectors from
 * a scene to the digits of the clock.
 */
const X264_PARAMETERS = [
  `keyint=${GOP_FRAMES}:min-keyint=${GOP_FRAMES}:slice-max-mbs=${MACROBLOCKS}:mvrange=28:level=31`,
  'scenecut=0:bframes=3:b-adapt=0:b-pyramid=none:ref=1:weightp=0:weightb=0:cabac=0:8x8dct=0',
  'stitchable=1:mbtree=0:rc-lookahead=0:sync-lookahead=0:threads=1',
].join(':')
const START_CODE = Buffer.of(0, 0, 1)

/** Colour of the bar, also as Y, U and V, and those of its digits and of the recording light. */
const BAR_COLOUR = '060916'
const [BAR, INK, LIGHT] = [[24, 134, 126] as const, 222, [96, 108, 214] as const]
/** The last rows of a scene have the plain colour, so that upscaling keeps them clean. */
const TO_YUV = [
  'format=rgb24',
  ...Array.from({ length: FADE_ROWS }, (_, row) => {
    const share = Math.min(1, (row + 1) / (FADE_ROWS * 0.8))
    return `drawbox=0:${SCENE_SIZE.height - FADE_ROWS + row}:iw:1:${BAR_COLOUR}@${share}:fill`
  }),
  'scale=out_color_matrix=bt709:out_range=tv',
  'format=yuv420p',
].join()
const PLACE = [
  `scale=${WIDTH}:${SCENE_HEIGHT}:flags=bicubic`,
  `pad=${WIDTH}:${HEIGHT}:0:0:${BAR_COLOUR}`,
].join()

/** A loop in coding order, and the open encoder, which describes it to a muxer. */
export interface VideoLoop {
  encoder: CodecContext
  frames: CodedFrame[]
}

export function encodeLoop(scene: Scene, palette: readonly string[], crf: number): VideoLoop {
  const encoder = openVideoEncoder(crf, 'superfast')
  const canvas = new Canvas(SCENE_SIZE.width, SCENE_SIZE.height)
  using filter = FilterAPI.create([TO_YUV, PLACE].join())
  const frames: CodedFrame[] = []
  for (let number = 0; number < LOOP_FRAMES; number++) {
    scene(canvas, number / LOOP_FRAMES)
    using frame = convert(canvas, palette, filter)
    frame.pts = BigInt(number)
    frames.push(...encodeFrame(encoder, frame))
  }
  return { encoder, frames: [...frames, ...encodeFrame(encoder, null)] }
}

/** The clock's slice for each second from 0 to `seconds` (exclusive); `seconds` is even. */
export function encodeClock(seconds: number): Buffer[] {
  const encoder = openVideoEncoder(CLOCK_CRF, 'ultrafast')
  const [luma, ...chroma] = createBar()
  const planes = Buffer.concat([luma, ...chroma].map(({ pixels }) => pixels))
  const coded: CodedFrame[] = []
  for (let second = 0; second < seconds; second++) {
    drawClock(luma, second)
    planes.set(luma.pixels)
    using frame = Frame.fromVideoBuffer(planes, FULL_FRAME)
    frame.pts = BigInt(second)
    frame.pictType = second % 2 === 0 ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_P
    coded.push(...encodeFrame(encoder, frame))
  }
  coded.push(...encodeFrame(encoder, null))
  encoder.freeContext()
  return coded.map(({ data }, second) => {
    const slice = splitFrame(data).bar
    if (second % 2 === 1) moveToMiddle(slice)
    return slice
  })
}

/** A coded frame's NAL units up to the scene's slice, and that of the bar below it. */
export function splitFrame(data: Buffer): { scene: Buffer; bar: Buffer } {
  const at = data.lastIndexOf(START_CODE)
  return { scene: data.subarray(0, at), bar: data.subarray(at) }
}

/**
 * Numbers the slice of the second frame of a GOP as that of the frame in the middle: `frame_num`
 * counts reference frames, of which there is one in four, and `pic_order_cnt_lsb` half frames. With
 * our encoder they have 4 and 5 bits, after 27 bits (7.3.3).
 */
function moveToMiddle(slice: Buffer): void {
  const [frameNumber, order] = [FRAME_RATE / 4, (FRAME_RATE * 2) % 32]
  const at = START_CODE.length + 4
  slice.writeUInt8((slice.readUInt8(at) & 0xe0) | (frameNumber << 1) | (order >> 4), at)
  slice.writeUInt8((slice.readUInt8(at + 1) & 0x0f) | ((order & 15) << 4), at + 1)
}

/** The frame in the middle of a scene's loop as JPEG. */
export function encodePoster(scene: Scene, palette: readonly string[]): Buffer {
  const canvas = new Canvas(SCENE_SIZE.width, SCENE_SIZE.height)
  scene(canvas, 0.5)
  using filter = FilterAPI.create(TO_YUV)
  using frame = convert(canvas, palette, filter)
  using scaler = new Scaler()
  return scaler.toJpegSync(frame, { quality: POSTER_QUALITY })
}

function openVideoEncoder(crf: number, preset: 'ultrafast' | 'superfast'): CodecContext {
  const { width, height, format: pixelFormat } = FULL_FRAME
  const rates = { timeBase: new Rational(1, FRAME_RATE), framerate: new Rational(FRAME_RATE, 1) }
  return openEncoder(
    FF_ENCODER_LIBX264,
    { width, height, pixelFormat, ...rates },
    { preset, crf, 'forced-idr': 1, 'x264-params': X264_PARAMETERS },
  )
}

/** The canvas in the colours of a palette, as the filter returns it. */
function convert(canvas: Canvas, palette: readonly string[], filter: FilterAPI): Frame {
  const pixels = Buffer.concat([canvas.pixels, createPalette(palette)])
  const { width, height } = canvas
  using drawn = Frame.fromVideoBuffer(pixels, { width, height, format: AV_PIX_FMT_PAL8, pts: 0n })
  const [frame] = filter.processAllSync(drawn)
  if (frame === undefined) throw new Error('a filter returned no frame')
  return frame
}

/** 256 steps between a few stops, as FFmpeg's BGRA. */
function createPalette(stops: readonly string[]): Buffer {
  const colours = stops.map((stop) => Buffer.from(stop, 'hex'))
  const palette = Buffer.alloc(256 * 4, 255)
  for (let step = 0; step < 256; step++) {
    const place = (step / 255) * (stops.length - 1)
    const below = Math.min(Math.floor(place), stops.length - 2)
    for (let channel = 0; channel < 3; channel++) {
      const [from = 0, to = 0] = [colours[below]?.[channel], colours[below + 1]?.[channel]]
      palette[step * 4 + 2 - channel] = Math.round(from + (to - from) * (place - below))
    }
  }
  return palette
}

/** Position of the digits, and size of a dot in pixels. */
const [CLOCK_LEFT, CLOCK_TOP, DOT_SIZE] = [76, SCENE_HEIGHT + 32, 5]
/** 5 x 7 dots a digit: rows of five bits, top to bottom. */
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

/** Planes Y, U and V with the bar and the recording light. */
function createBar(): [Canvas, Canvas, Canvas] {
  const draw = (scale: number, bar: number, light: number) => {
    const plane = new Canvas(WIDTH * scale, HEIGHT * scale)
    plane.pixels.fill(bar)
    plane.circle([(CLOCK_LEFT - 30) * scale, (CLOCK_TOP + 17) * scale, 9 * scale], light)
    return plane
  }
  return [draw(1, BAR[0], LIGHT[0]), draw(0.5, BAR[1], LIGHT[1]), draw(0.5, BAR[2], LIGHT[2])]
}

/** Draws `0:04:05`. */
function drawClock(canvas: Canvas, second: number): void {
  canvas.box([CLOCK_LEFT, CLOCK_TOP, WIDTH, 7 * DOT_SIZE], BAR[0])
  let left = CLOCK_LEFT
  for (const glyph of new Date(second * 1000).toISOString().slice(12, 19)) {
    const dots = (GLYPHS[glyph] ?? []).map((bits) => bits.toString(2).padStart(5, '0')).join('')
    for (const { index } of dots.matchAll(/1/g)) {
      const [x, y] = [left + (index % 5) * DOT_SIZE, CLOCK_TOP + Math.floor(index / 5) * DOT_SIZE]
      canvas.box([x, y, DOT_SIZE, DOT_SIZE], INK)
    }
    left += (glyph === ':' ? 5 : 6) * DOT_SIZE + 2
  }
}
