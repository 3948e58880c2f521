// Shows frames of a storyboard in turn over the image of a card.
import { drawFrame } from './draw-frame.ts'
import { fetchFrames } from './follow-storyboard.ts'
import type { StoryboardFrame } from './parse-storyboard.ts'

/** From the whole session; the sheet of a frame is loaded before its turn. */
const FRAME_COUNT = 10
const FRAME_MS = 700

/** Until the signal aborts. `url` of the storyboard is relative to the page. */
export async function flickStoryboard(
  image: HTMLImageElement,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const frames = spread(await fetchFrames(new URL(url, location.href).href, signal))
  if (frames.length < 2) return
  const canvas = document.createElement('canvas')
  canvas.className = image.className
  signal.addEventListener('abort', () => canvas.remove())
  const sheets = new Map<string, HTMLImageElement>()
  for (let turn = 0; image.isConnected; turn += 1) {
    const frame = frames[turn % frames.length]
    if (!frame) return
    const sheet = sheets.get(frame.sheetUrl) ?? (await loadImage(frame.sheetUrl))
    sheets.set(frame.sheetUrl, sheet)
    if (signal.aborted) return
    drawFrame(canvas, sheet, frame)
    image.after(canvas)
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS))
    if (signal.aborted) return
  }
}

/** The middle frame of each of as many equal parts. */
function spread(frames: readonly StoryboardFrame[]): StoryboardFrame[] {
  const count = Math.min(frames.length, FRAME_COUNT)
  return Array.from({ length: count }, (_, part) =>
    frames.at(Math.floor(((part + 0.5) / count) * frames.length)),
  ).filter((frame) => frame !== undefined)
}

async function loadImage(url: string): Promise<HTMLImageElement> {
  const image = new Image()
  image.fetchPriority = 'low'
  image.src = url
  await image.decode()
  return image
}
