// Draws one frame of a storyboard, in the size that it has in its sheet.
import type { StoryboardFrame } from './parse-storyboard.ts'

export function drawFrame(
  canvas: HTMLCanvasElement,
  sheet: HTMLImageElement,
  { x, y, width, height }: StoryboardFrame,
): void {
  canvas.width = width
  canvas.height = height
  canvas.getContext('2d')?.drawImage(sheet, x, y, width, height, 0, 0, width, height)
}
