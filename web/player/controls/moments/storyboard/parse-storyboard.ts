// Parses a storyboard: WebVTT whose cues name regions of images. Pure; the input is untrusted.

/** A region of an image, in its pixels. */
export interface StoryboardFrame {
  startSeconds: number
  endSeconds: number
  /** URL of the sheet that contains the frame. */
  sheetUrl: string
  x: number
  y: number
  width: number
  height: number
}

/** The server writes at most 200 cues, which are a quarter of it. */
const MAX_CHARACTERS = 65_536
const MAX_FRAMES = 500
/** Of a position or size. */
const MAX_PIXELS = 16_384

const TIMING = /^(\S+)[ \t]+-->[ \t]+(\S+)/
const TIME = /^(?:(\d{2,4}):)?([0-5]\d):([0-5]\d\.\d{3})$/
const REGION = /^xywh=(?:pixel:)?(\d{1,5}),(\d{1,5}),(\d{1,5}),(\d{1,5})$/

/**
 * The frames in order. Cues that are malformed, out of order, or in another folder than the file
 * at `url` (absolute) are omitted; none if it is not WebVTT or too large.
 */
export function parseStoryboard(text: string, url: string): StoryboardFrame[] {
  if (!/^\uFEFF?WEBVTT(?:[ \t\r\n]|$)/.test(text) || text.length > MAX_CHARACTERS) return []
  const frames: StoryboardFrame[] = []
  for (const block of text.replaceAll(/\r\n?/g, '\n').split(/\n{2,}/)) {
    const frame = parseCue(block, url)
    if (frame && frame.startSeconds >= (frames.at(-1)?.endSeconds ?? 0)) frames.push(frame)
    if (frames.length === MAX_FRAMES) break
  }
  return frames
}

function parseCue(block: string, url: string): StoryboardFrame | undefined {
  const lines = block.split('\n')
  const at = lines.findIndex((line) => TIMING.test(line))
  const [, start = '', end = ''] = TIMING.exec(lines[at] ?? '') ?? []
  const startSeconds = parseTime(start)
  const endSeconds = parseTime(end)
  const region = parseRegion(lines[at + 1]?.trim() ?? '', url)
  if (startSeconds === undefined || endSeconds === undefined || !region) return undefined
  return startSeconds < endSeconds ? { startSeconds, endSeconds, ...region } : undefined
}

/** `HH:MM:SS.mmm` or `MM:SS.mmm` in seconds. */
function parseTime(text: string): number | undefined {
  const [found, hours = '0', minutes, seconds] = TIME.exec(text) ?? []
  return found === undefined
    ? undefined
    : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

/** `tile-0.jpg#xywh=160,0,160,90`, relative to `url`. */
function parseRegion(reference: string, url: string) {
  if (!URL.canParse(reference, url)) return undefined
  const sheet = new URL(reference, url)
  const [x, y, width, height] = (REGION.exec(sheet.hash.slice(1)) ?? []).slice(1).map(Number)
  sheet.hash = ''
  if (folderOf(sheet) !== folderOf(new URL(url))) return undefined
  if (x === undefined || y === undefined || !width || !height) return undefined
  if (x + width > MAX_PIXELS || y + height > MAX_PIXELS) return undefined
  return { sheetUrl: sheet.href, x, y, width, height }
}

function folderOf({ origin, pathname }: URL): string {
  return origin + pathname.slice(0, pathname.lastIndexOf('/'))
}
