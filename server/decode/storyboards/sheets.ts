// The sheets of a storyboard: each is named by the frames that it shows, so that a name stays valid
// while a recording grows.
import { createHash } from 'node:crypto'
import { planShorterStep, SHEET_TILES } from './plan-storyboard.ts'
import type { FramePosition, PlannedPart, StoryboardPlan } from './plan-storyboard.ts'

/** Some consecutive tiles of a storyboard, as one image. */
export interface Sheet {
  number: number
  /** Identifies the image: 32 hexadecimal digits. */
  version: string
  tileHeight: number
  /** One per tile, at least one. */
  frames: readonly FramePosition[]
}

/** A sheet in a URL. */
export type SheetName = Pick<Sheet, 'number' | 'version'>

/** Part of every version: increment it when rendering changes. */
const RENDER_VERSION = 1
const VERSION_DIGITS = 32
const FILE_NAME = /^tile-(?<number>0|[1-9]\d{0,2})-(?<version>[\da-f]{32})\.jpg$/

/** Name of the sheet's file. */
export function sheetFileName({ number, version }: SheetName): string {
  return `tile-${number}-${version}.jpg`
}

/** Undefined for a name that no storyboard contains. */
export function parseSheetName(fileName: string): SheetName | undefined {
  const { number, version } = FILE_NAME.exec(fileName)?.groups ?? {}
  if (number === undefined || version === undefined) return undefined
  return { number: Number(number), version }
}

/** All sheets of a storyboard. */
export function listSheets(parts: readonly PlannedPart[], plan: StoryboardPlan): Sheet[] {
  const count = Math.ceil(plan.frames.length / SHEET_TILES)
  return Array.from({ length: count }, (_, number) => createSheet(parts, plan, { number }))
}

/**
 * The sheet of this name: one that is listed, or was listed when the recording was shorter.
 * Undefined if there is none.
 */
export function findSheet(
  parts: readonly PlannedPart[],
  { plan, sheets }: { plan: StoryboardPlan; sheets: readonly Sheet[] },
  name: SheetName,
): Sheet | undefined {
  const listed = sheets[name.number]
  if (listed?.version === name.version) return listed
  for (const candidate of [plan, planShorterStep(parts, plan)]) {
    const tiles = candidate && tilesOf(candidate, name.number).length
    for (let count = tiles ?? 0; candidate !== undefined && count > 0; count -= 1) {
      const sheet = createSheet(parts, candidate, { number: name.number, count })
      if (sheet.version === name.version) return sheet
    }
  }
  return undefined
}

/** @param at `count` is the number of tiles; default all that there are */
function createSheet(
  parts: readonly PlannedPart[],
  plan: StoryboardPlan,
  { number, count }: { number: number; count?: number },
): Sheet {
  const { tileHeight } = plan
  const frames = tilesOf(plan, number).slice(0, count)
  const facts = frames.map(({ part, splitPoint }) => [parts[part]?.identity, splitPoint])
  const hash = createHash('sha256').update(JSON.stringify([RENDER_VERSION, tileHeight, facts]))
  return { number, version: hash.digest('hex').slice(0, VERSION_DIGITS), tileHeight, frames }
}

function tilesOf({ frames }: StoryboardPlan, number: number): readonly FramePosition[] {
  return frames.slice(number * SHEET_TILES, (number + 1) * SHEET_TILES)
}
