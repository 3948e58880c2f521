// The drawing surface of scenes: one byte per pixel, an index into the scene's palette.

/** Two thirds of the video's size: upscaling softens every edge. */
export const CANVAS_WIDTH = 640
export const CANVAS_HEIGHT = 304

export type Canvas = Uint8Array

/** Draws the whole canvas for a phase from 0 to 1; both ends look the same. */
export type Scene = (canvas: Canvas, phase: number) => void

export const TURN = 2 * Math.PI

/** A filled rectangle, clipped to the canvas. */
export function fillBox(
  canvas: Canvas,
  box: { x: number; y: number; width: number; height: number },
  colour: number,
): void {
  const left = Math.max(0, Math.round(box.x))
  const right = Math.min(CANVAS_WIDTH, Math.round(box.x + box.width))
  const bottom = Math.min(CANVAS_HEIGHT, Math.round(box.y + box.height))
  if (right <= left) return
  for (let y = Math.max(0, Math.round(box.y)); y < bottom; y++) {
    canvas.fill(colour, y * CANVAS_WIDTH + left, y * CANVAS_WIDTH + right)
  }
}

/** A filled circle, clipped to the canvas. */
export function fillCircle(
  canvas: Canvas,
  circle: { x: number; y: number; radius: number },
  colour: number,
): void {
  const { x, y, radius } = circle
  for (let row = Math.ceil(y - radius); row <= y + radius; row++) {
    const half = Math.sqrt(Math.max(0, radius * radius - (row - y) * (row - y)))
    fillBox(canvas, { x: x - half, y: row, width: half * 2, height: 1 }, colour)
  }
}

/** A vertical gradient of indexes `from` to `to` over the rows `top` to `bottom`. */
export function fillGradient(
  canvas: Canvas,
  rows: { top: number; bottom: number },
  steps: { from: number; to: number },
): void {
  for (let y = rows.top; y < rows.bottom; y++) {
    const part = (y - rows.top) / (rows.bottom - rows.top)
    const colour = steps.from + (steps.to - steps.from) * part
    canvas.fill(colour, y * CANVAS_WIDTH, (y + 1) * CANVAS_WIDTH)
  }
}
