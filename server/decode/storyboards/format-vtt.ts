// The WebVTT file of a storyboard: per cue the region of an image (W3C Media Fragments 4.2.2), as
// players expect it for thumbnails.
import { SHEET_COLUMNS, SHEET_TILES, TILE_WIDTH } from './plan-storyboard.ts'
import type { StoryboardPlan } from './plan-storyboard.ts'
import { sheetFileName } from './sheets.ts'
import type { Sheet } from './sheets.ts'

/** The cues of all sheets, in order and without gaps; URLs are relative. */
export function formatStoryboard(plan: StoryboardPlan, sheets: readonly Sheet[]): string {
  const { durationMs, stepMs, tileHeight } = plan
  const cues = sheets.flatMap((sheet) =>
    sheet.frames.map((_, tile) => {
      const startMs = (sheet.number * SHEET_TILES + tile) * stepMs
      const endMs = Math.min(startMs + stepMs, durationMs)
      const x = (tile % SHEET_COLUMNS) * TILE_WIDTH
      const y = Math.floor(tile / SHEET_COLUMNS) * tileHeight
      const region = `#xywh=${x},${y},${TILE_WIDTH},${tileHeight}`
      return `${formatTime(startMs)} --> ${formatTime(endMs)}\n${sheetFileName(sheet)}${region}\n`
    }),
  )
  return ['WEBVTT\n', ...cues].join('\n')
}

/** W3C WebVTT 4.1: at least two digits of hours. */
function formatTime(ms: number): string {
  const digits = (value: number, length: number): string => String(value).padStart(length, '0')
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = digits(Math.floor(minutes / 60), 2)
  return `${hours}:${digits(minutes % 60, 2)}:${digits(seconds % 60, 2)}.${digits(ms % 1000, 3)}`
}
