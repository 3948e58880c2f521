// The WebVTT file of a storyboard: per cue the region of an image (W3C Media Fragments 4.2.2), as
// players expect it for thumbnails.
import { formatCueTime } from '../../media/codec/webvtt-text.ts'
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
      const times = `${formatCueTime(startMs)} --> ${formatCueTime(endMs)}`
      return `${times}\n${sheetFileName(sheet)}${region}\n`
    }),
  )
  return ['WEBVTT\n', ...cues].join('\n')
}
