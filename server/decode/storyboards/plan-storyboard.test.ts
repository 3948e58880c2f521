import { describe, expect, it } from 'vitest'
import { SPLIT_FORCED, SPLIT_KEY_FRAME } from '../../media/media-index.ts'
import { formatStoryboard } from './format-vtt.ts'
import {
  chooseStepMs,
  hasStoryboard,
  MAX_CUES,
  planStoryboard,
  SHEET_TILES,
} from './plan-storyboard.ts'
import type { PlannedPart, StoryboardPlan } from './plan-storyboard.ts'
import { PlannedStoryboards } from './planned-storyboards.ts'
import type { Storyboard } from './planned-storyboards.ts'
import { findSheet, listSheets, parseSheetName, sheetFileName } from './sheets.ts'

const HOUR = 3600

interface PartPlan {
  seconds: number
  /** Times of key frames. */
  keys: readonly number[]
  /** Times of other split points. */
  others?: readonly number[]
  size?: { width: number; height: number }
  identity?: string
}

function createPart({
  seconds,
  keys,
  others = [],
  size = { width: 1920, height: 1080 },
  identity = 'a',
}: PartPlan): PlannedPart {
  const points = [
    ...keys.map((at) => ({ at, flag: SPLIT_KEY_FRAME })),
    ...others.map((at) => ({ at, flag: SPLIT_FORCED })),
  ].toSorted((a, b) => a.at - b.at)
  return {
    identity,
    durationSeconds: seconds,
    splitPoints: {
      timescale: 90_000,
      startTicks: Float64Array.from(points, ({ at }) => at * 90_000),
      endTicks: seconds * 90_000,
      flags: Uint8Array.from(points, ({ flag }) => flag),
    },
    listedSplitPoints: points.length,
    size: () => size,
  }
}

/** Key frames at regular times. */
function regular(seconds: number, gopSeconds = 2, identity = 'a'): PlannedPart {
  const count = Math.ceil(seconds / gopSeconds)
  const keys = Array.from({ length: count }, (_, i) => i * gopSeconds)
  return createPart({ seconds, keys, identity })
}

function planOf(...parts: PlannedPart[]): StoryboardPlan {
  const plan = planStoryboard(parts)
  if (plan === undefined) throw new Error('no plan')
  return plan
}

function storyboardOf(...parts: PlannedPart[]): Storyboard {
  const plan = planOf(...parts)
  return { plan, sheets: listSheets(parts, plan) }
}

/** Numbers of the split points that the cues show. */
function shown(...parts: PlannedPart[]): number[] {
  return planOf(...parts).frames.map(({ splitPoint }) => splitPoint)
}

describe('the step', () => {
  it.each([
    [1, 1],
    [25, 1],
    [26, 2],
    [250, 10],
    [1800, 10],
    [2000, 10],
    [2001, 20],
    [HOUR, 20],
    [4 * HOUR, 120],
    [10 * HOUR, 180],
    [200 * HOUR, 3600],
    [201 * HOUR, 2 * 3600],
  ])('of %i s is %i s', (seconds, step) => {
    expect(chooseStepMs(seconds * 1000)).toBe(step * 1000)
  })

  it('never gives more than the limit of cues, nor steps above 10 s in half an hour', () => {
    for (let seconds = 1; seconds < 100 * HOUR; seconds = Math.ceil(seconds * 1.07)) {
      const stepMs = chooseStepMs(seconds * 1000)
      const longestMs = seconds <= 1800 ? 10_000 : Infinity
      expect(stepMs).toBeLessThanOrEqual(longestMs)
      const mostCues = seconds <= 250 ? SHEET_TILES : MAX_CUES
      expect((seconds * 1000) / stepMs).toBeLessThanOrEqual(mostCues)
    }
  })
})

describe('a cue', () => {
  it('shows the last key frame at or before its start', () => {
    // Step 2 s: cues at 0, 2, 4, …
    const keys = [0, 3, 4, 7.9, 8.0004, 25]
    expect(shown(createPart({ seconds: 30, keys })).slice(0, 6)).toEqual([0, 0, 2, 2, 4, 4])
  })

  it('shows the first key frame if there is none before', () => {
    const part = createPart({ seconds: 8, keys: [2.5, 6], others: [0, 1, 4, 5] })
    expect(shown(part)).toEqual([2, 2, 2, 2, 2, 2, 5, 5])
  })

  it('shows key frames of the part that it is in, or of the one before', () => {
    const parts = [
      createPart({ seconds: 4, keys: [0, 2] }),
      createPart({ seconds: 4, keys: [1] }),
      createPart({ seconds: 2, keys: [], others: [0, 1] }),
    ]
    expect(planOf(...parts).frames).toEqual([
      { part: 0, splitPoint: 0 },
      { part: 0, splitPoint: 0 },
      { part: 0, splitPoint: 1 },
      { part: 0, splitPoint: 1 },
      { part: 0, splitPoint: 1 },
      ...Array.from({ length: 5 }, () => ({ part: 1, splitPoint: 0 })),
    ])
  })

  it('shows no key frame that is not listed yet', () => {
    const part = { ...createPart({ seconds: 6, keys: [0, 2, 4] }), listedSplitPoints: 2 }
    expect(shown(part)).toEqual([0, 0, 1, 1, 1, 1])
  })

  it('does not exist without a key frame or a duration', () => {
    const audio = createPart({ seconds: 9, keys: [], others: [0, 1] })
    for (const parts of [[], [audio], [createPart({ seconds: 0, keys: [0] })]]) {
      expect(planStoryboard(parts)).toBeUndefined()
      expect(hasStoryboard(parts)).toBe(false)
    }
    expect(hasStoryboard([audio, createPart({ seconds: 1, keys: [0] })])).toBe(true)
  })
})

describe('the height of tiles', () => {
  it.each([
    [1920, 1080, 90],
    [1080, 1920, 284],
    [161, 121, 120],
    [10, 10_000, 320],
    [10_000, 10, 32],
    [0, 0, 90],
  ])('of %i x %i is %i', (width, height, tileHeight) => {
    const part = createPart({ seconds: 9, keys: [0], size: { width, height } })
    expect(planOf(part).tileHeight).toBe(tileHeight)
  })
})

describe('sheets', () => {
  it('have 25 tiles each, and names that can be parsed', () => {
    const part = regular(600)
    const sheets = listSheets([part], planOf(part))
    expect(sheets.map(({ frames }) => frames.length)).toEqual([25, 25, 10])
    for (const sheet of sheets) {
      const { number, version } = sheet
      expect(parseSheetName(sheetFileName(sheet))).toEqual({ number, version })
    }
    for (const name of ['tile-0.jpg', 'tile-01-.jpg', 'x', `tile-0-${'g'.repeat(32)}.jpg`])
      expect(parseSheetName(name)).toBeUndefined()
  })

  it('of a growing recording stay, and earlier incomplete ones are found', () => {
    const short = [regular(300)]
    const long = [regular(420)]
    const before = listSheets(short, planOf(...short))
    const after = listSheets(long, planOf(...long))
    expect(before.map(({ frames }) => frames.length)).toEqual([25, 5])
    expect(after[0]).toEqual(before[0])
    expect(after[1]?.version).not.toBe(before[1]?.version)
    const plan = planOf(...long)
    for (const sheet of before)
      expect(findSheet(long, { plan, sheets: after }, sheet)).toEqual(sheet)
  })

  it('of the step before are found', () => {
    const short = [regular(2000)]
    const long = [regular(2010)]
    expect([planOf(...short), planOf(...long)].map(({ stepMs }) => stepMs)).toEqual([
      10_000, 20_000,
    ])
    for (const sheet of listSheets(short, planOf(...short)))
      expect(findSheet(long, storyboardOf(...long), sheet)).toEqual(sheet)
  })

  it('of other recordings or with other names are not found', () => {
    const parts = [regular(600)]
    const storyboard = storyboardOf(...parts)
    const [sheet] = storyboard.sheets
    if (sheet === undefined) throw new Error('no sheet')
    expect(findSheet(parts, storyboard, { ...sheet, number: 1 })).toBeUndefined()
    expect(findSheet(parts, storyboard, { ...sheet, version: '0'.repeat(32) })).toBeUndefined()
    const others = [regular(600, 2, 'b')]
    expect(findSheet(others, storyboardOf(...others), sheet)).toBeUndefined()
  })
})

describe('PlannedStoryboards', () => {
  it('plan again only when the recordings have changed', () => {
    const planned = new PlannedStoryboards()
    const parts = [regular(300), regular(60, 2, 'b')]
    const storyboard = planned.find(parts)
    expect(storyboard?.sheets).toHaveLength(2)
    expect(planned.find(parts.map((part) => ({ ...part })))).toBe(storyboard)
    expect(planned.find(parts.slice(0, 1))?.plan.durationMs).toBe(300_000)
    const listed = parts.map((part) => ({ ...part, listedSplitPoints: 1 }))
    expect(planned.find(listed)?.plan.frames[1]).toEqual({ part: 0, splitPoint: 0 })
    expect(planned.find([])).toBeUndefined()
  })
})

describe('the WebVTT file', () => {
  it('has cues without gaps, and the region of each tile', () => {
    const parts = [createPart({ seconds: 3725.5, keys: [0], size: { width: 4, height: 3 } })]
    const plan = planOf(...parts)
    const sheets = listSheets(parts, plan)
    const text = formatStoryboard(plan, sheets)
    expect(text.startsWith('WEBVTT\n\n00:00:00.000 --> 00:00:20.000\ntile-0-')).toBe(true)
    const times = Array.from(text.matchAll(/^(\S+) --> (\S+)$/gm), ([, from, to]) => [from, to])
    expect(times).toHaveLength(187)
    for (const [i, [from]] of times.entries())
      expect(from).toBe(times[i - 1]?.[1] ?? '00:00:00.000')
    expect(times.at(-1)?.[1]).toBe('01:02:05.500')
    const regions = Array.from(text.matchAll(/#xywh=(\S+)$/gm), ([, region]) => region)
    expect(regions.slice(3, 6)).toEqual(['480,0,160,120', '640,0,160,120', '0,120,160,120'])
    expect(regions[25]).toBe('0,0,160,120')
  })
})
