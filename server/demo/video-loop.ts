// Encodes one loop of a scene: the upper part of a session's video.
import { AV_PIX_FMT_YUV420P, SWS_BICUBIC } from 'node-av/constants'
import { FFmpegError, Frame, SoftwareScaleContext } from 'node-av/lib'
import { CANVAS_HEIGHT, CANVAS_WIDTH } from './canvas.ts'
import type { Canvas, Scene } from './canvas.ts'
import { STRIP_COLOUR } from './clock-strip.ts'
import type { Palette } from './palette.ts'
import { GOP_FRAMES, VideoEncoder } from './video-encoder.ts'
import type { CodedFrame } from './video-encoder.ts'

export const SCENE_WIDTH = 960
export const SCENE_HEIGHT = 448

/** Key frames in a loop. */
const LOOP_GOPS = 2
export const LOOP_FRAMES = LOOP_GOPS * GOP_FRAMES
/** Rows over which a scene fades into the bar below. */
const FADE_ROWS = 14

/**
 * Frames of one loop in coding order. Below the lower edge, references find the bar's colour in
 * both videos.
 */
export function encodeLoop(scene: Scene, palette: Palette, crf: number): CodedFrame[] {
  const encoder = new VideoEncoder({
    width: SCENE_WIDTH,
    height: SCENE_HEIGHT,
    crf,
    gopFrames: GOP_FRAMES,
  })
  using scaler = new SoftwareScaleContext()
  scaler.getContext(
    CANVAS_WIDTH,
    CANVAS_HEIGHT,
    AV_PIX_FMT_YUV420P,
    SCENE_WIDTH,
    SCENE_HEIGHT,
    AV_PIX_FMT_YUV420P,
    SWS_BICUBIC,
  )
  const canvas: Canvas = new Uint8Array(CANVAS_WIDTH * CANVAS_HEIGHT)
  const frame = Buffer.alloc(canvas.length * 1.5)
  const frames: CodedFrame[] = []
  for (let number = 0; number < LOOP_FRAMES; number++) {
    scene(canvas, number / LOOP_FRAMES)
    paint(frame, canvas, palette)
    using small = Frame.fromVideoBuffer(frame, {
      width: CANVAS_WIDTH,
      height: CANVAS_HEIGHT,
      format: AV_PIX_FMT_YUV420P,
    })
    using large = new Frame()
    large.alloc()
    large.width = SCENE_WIDTH
    large.height = SCENE_HEIGHT
    large.format = AV_PIX_FMT_YUV420P
    FFmpegError.throwIfError(large.getBuffer(0), 'allocate frame')
    FFmpegError.throwIfError(scaler.scaleFrameSync(large, small), 'scale')
    frames.push(...encoder.pushFrame(large))
  }
  return [...frames, ...encoder.finish()]
}

/** Converts the canvas to planar 4:2:0. */
export function paint(frame: Buffer, canvas: Canvas, palette: Palette): void {
  const count = canvas.length
  const chroma = count / 4
  for (let at = 0; at < count; at++) frame[at] = palette.y[canvas[at] ?? 0] ?? 0
  for (let y = 0; y < CANVAS_HEIGHT; y += 2) {
    const row = count + (y * CANVAS_WIDTH) / 4
    for (let x = 0; x < CANVAS_WIDTH / 2; x++) {
      const step = canvas[y * CANVAS_WIDTH + x * 2] ?? 0
      frame[row + x] = palette.u[step] ?? 0
      frame[row + x + chroma] = palette.v[step] ?? 0
    }
  }
  const [stripY, stripU, stripV] = STRIP_COLOUR
  fadeOut(frame.subarray(0, count), { width: CANVAS_WIDTH, rows: FADE_ROWS, colour: stripY })
  const half = { width: CANVAS_WIDTH / 2, rows: FADE_ROWS / 2 }
  fadeOut(frame.subarray(count, count + chroma), { ...half, colour: stripU })
  fadeOut(frame.subarray(count + chroma), { ...half, colour: stripV })
}

/** Fades the last rows of a plane; the very last are plain, so that upscaling keeps them clean. */
function fadeOut(plane: Buffer, fade: { width: number; rows: number; colour: number }): void {
  const { width, rows, colour } = fade
  const clean = Math.ceil(rows / 5)
  for (let row = 0; row < rows; row++) {
    const share = Math.min(1, (row + 1) / (rows - clean))
    const start = plane.length - (rows - row) * width
    for (let at = start; at < start + width; at++) {
      plane[at] = (plane[at] ?? 0) * (1 - share) + colour * share
    }
  }
}
