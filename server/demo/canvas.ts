// The drawing surface of scenes and of the clock: one byte per pixel, an index into a palette.

export type Box = [x: number, y: number, width: number, height: number]

export const TURN = 2 * Math.PI

export class Canvas {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.pixels = new Uint8Array(width * height)
  }

  /** Fills a rectangle, clipped to the canvas. */
  box([x, y, width, height]: Box, colour: number): void {
    const left = Math.max(0, Math.round(x))
    const right = Math.min(this.width, Math.round(x + width))
    const bottom = Math.min(this.height, Math.round(y + height))
    if (right <= left) return
    for (let row = Math.max(0, Math.round(y)); row < bottom; row++) {
      this.pixels.fill(colour, row * this.width + left, row * this.width + right)
    }
  }

  /** Fills a circle, clipped to the canvas. */
  circle([x, y, radius]: [x: number, y: number, radius: number], colour: number): void {
    for (let row = Math.ceil(y - radius); row <= y + radius; row++) {
      const half = Math.sqrt(Math.max(0, radius * radius - (row - y) * (row - y)))
      this.box([x - half, row, half * 2, 1], colour)
    }
  }

  /** Fills the rows from `top` to `bottom` with a gradient. */
  gradient([top, bottom]: [number, number], [from, to]: [number, number]): void {
    for (let y = top; y < bottom; y++) {
      this.box([0, y, this.width, 1], from + ((to - from) * (y - top)) / (bottom - top))
    }
  }

  /** Computes every colour, for 2 x 2 pixels at once: smooth areas need no more. */
  shade(colourAt: (x: number, y: number) => number): void {
    const { width, height, pixels } = this
    for (let y = 0; y < height; y += 2) {
      const row = y * width
      for (let x = row; x < row + width; x += 2) {
        const colour = Math.min(255, Math.max(0, colourAt(x - row, y)))
        pixels[x] = pixels[x + 1] = pixels[x + width] = pixels[x + width + 1] = colour
      }
    }
  }
}
