// Converts the result of a scan to an index, and an index back to a scan state.
import { finishSets, resumeSetsScan } from '../../codec/parameter-sets.ts'
import type { Growth, MediaIndex } from '../../media-index.ts'
import { describeGrowth, firstOf, isStartOpen, tableOf } from '../../timeline/split-points.ts'
import { withSegmentLimits } from '../../timeline/segment-limits.ts'
import type { Limitation } from '../../../base/problem.ts'
import { applyGroup } from './apply-group.ts'
import type { Fmp4Resume, Fmp4Source } from '../fmp4-source.ts'
import { describeLimitations } from './fragment-limitations.ts'
import type { SkippedBytes } from '../fragments/fragment-walk.ts'
import type { EndedGroup, FragmentGrouper } from './fragment-grouper.ts'
import { createScanState, type ScanState } from './scan-state.ts'
import { sessionEnd } from './section.ts'

/** Result of a scan. */
export interface ScanEnd {
  state: ScanState
  grouper: FragmentGrouper
  /** Where the scan started. */
  position: number
  /** The last group, which is not applied yet because it may grow. */
  last: EndedGroup | undefined
  skipped: readonly SkippedBytes[]
  /** Limitations found before the scan. */
  earlierLimitations: readonly Limitation[]
}

/** The index; without split points if nothing is playable. */
export function assembleIndex(sizeBytes: number, end: ScanEnd): MediaIndex {
  const { state, grouper, last } = end
  const resume = createResume(end)
  if (last !== undefined) applyGroup(state, last)
  const { splitPoints, sections } = state
  const stableSplitPoints = countStable(state, resume, last)
  const section = sections.at(-1)
  const endTicks = section ? Math.round(sessionEnd(section) * state.timescale) : 0
  const sets = finishSets(state.sets)
  const served = state.isServed.flatMap((isServed, track) => (isServed ? [track] : []))
  const source: Fmp4Source = {
    container: 'fmp4',
    sizeBytes,
    offsets: Float64Array.from(splitPoints.offsets),
    samplesBefore: Uint32Array.from(splitPoints.samplesBefore),
    sampleCounts: Float64Array.from(splitPoints.sampleCounts),
    splitGroupStarts: Float64Array.from(state.splitGroupStarts),
    splitGroupEnds: Float64Array.from(state.splitGroupEnds),
    ...(grouper.lacksDecodeTimes && {
      decodeTicks: splitPoints.decodeTicks.map((ticks) => Float64Array.from(ticks)),
    }),
    sections,
    inits: state.inits,
    keys: state.keys,
    served,
    ...(state.moovSamples && { moovSamples: state.moovSamples }),
    ...(sets && { sets }),
    resume,
  }
  const limitations = describeLimitations({
    ...end,
    sections,
    splitPoints: { ...splitPoints, timescale: state.timescale },
  })
  const index: MediaIndex = {
    tracks: served.flatMap((track) => state.tracks[track] ?? []),
    splitPoints: tableOf(splitPoints, { timescale: state.timescale, endTicks }),
    ...(limitations && { limitations }),
    growth: growthOf(source, stableSplitPoints),
    source,
  }
  return withSegmentLimits(index, { before: source.sampleCounts, total: state.sampleCount })
}

/** The state before the last group, as a plain value. */
function createResume({ state, grouper, position, last }: ScanEnd): Fmp4Resume {
  const before = last?.group.stateBefore ?? grouper.snapshot()
  const lastSection = state.sections.at(-1)
  return {
    position: last?.group.start ?? position,
    splitPointCount: state.splitPoints.offsets.length,
    splitGroupCount: state.splitGroupStarts.length,
    sectionCount: state.sections.length,
    ...(lastSection && { lastSection: structuredClone(lastSection) }),
    ...before,
    sampleCount: state.sampleCount,
    ...(state.pendingSection && { pendingSection: state.pendingSection }),
    lastSplitPointSeconds: state.lastSplitPointSeconds,
    lastKeySeconds: state.lastKeySeconds,
    latestFrameSeconds: state.latestFrameSeconds,
    setsInForce: state.sets.inForce,
    searchedFrames: state.searchedFrames,
    isServed: [...state.isServed],
    isServedFinal: state.isServedFinal,
  }
}

/** The state of an index. Tracks that it does not list are no longer served. */
export function restoreState({ splitPoints, tracks }: MediaIndex, source: Fmp4Source): ScanState {
  const { resume, inits, keys, moovSamples, served } = source
  const [first = { tracks: [] }] = inits
  const announced = first.tracks.map((_, number) => tracks[served.indexOf(number)])
  const { splitPointCount, splitGroupCount, sectionCount, lastSection } = resume
  const sections = source.sections.slice(0, Math.max(sectionCount - 1, 0))
  if (lastSection !== undefined) sections.push(structuredClone(lastSection))
  return {
    ...createScanState({ tracks: announced, keys, init: first }, moovSamples),
    inits: [...inits],
    splitPoints: {
      offsets: firstOf(source.offsets, splitPointCount),
      samplesBefore: firstOf(source.samplesBefore, splitPointCount),
      sampleCounts: firstOf(source.sampleCounts, splitPointCount),
      startTicks: firstOf(splitPoints.startTicks, splitPointCount),
      flags: firstOf(splitPoints.flags, splitPointCount),
      // Absent if no fragment needs them.
      decodeTicks: announced.map((_, track) =>
        firstOf(source.decodeTicks?.[track] ?? new Float64Array(splitPointCount), splitPointCount),
      ),
    },
    splitGroupStarts: firstOf(source.splitGroupStarts, splitGroupCount),
    splitGroupEnds: firstOf(source.splitGroupEnds, splitGroupCount),
    sections,
    pendingSection: resume.pendingSection,
    lastSplitPointSeconds: resume.lastSplitPointSeconds,
    lastKeySeconds: resume.lastKeySeconds,
    latestFrameSeconds: resume.latestFrameSeconds,
    sets: resumeSetsScan(source.sets, { inForce: resume.setsInForce, count: splitPointCount }),
    searchedFrames: resume.searchedFrames,
    isServed: [...resume.isServed],
    isServedFinal: resume.isServedFinal,
    sampleCount: resume.sampleCount,
  }
}

/** Split points before the last group with a final time, and one at the start of that group. */
function countStable(
  state: ScanState,
  { splitPointCount }: Fmp4Resume,
  last: EndedGroup | undefined,
): number {
  const { splitPoints, sections } = state
  const beginsGroup = splitPoints.samplesBefore[splitPointCount] === 0
  const known = beginsGroup && isWholeAtStart(last) ? splitPointCount + 1 : splitPointCount
  // Frames that are shown before it may still follow.
  const isLast = known === splitPoints.flags.length
  const latest = isLast ? state.latestFrameSeconds : Infinity
  const isOpen = isStartOpen(splitPoints.flags[known - 1], latest, state.lastKeySeconds)
  const fixed = isOpen ? known - 1 : known
  const open = sections.find(({ isSettled }) => !isSettled)
  if (open === undefined) return fixed
  // The start of an unsettled section is final, its later split points are not. The first section
  // waits for its earliest time.
  return Math.min(fixed, open.firstSplitPoint === 0 ? 0 : open.firstSplitPoint + 1)
}

/**
 * Whether the fragments that determine the group's first split point are complete; later fragments
 * do not change it.
 */
function isWholeAtStart(last: EndedGroup | undefined): boolean {
  const fragments = last?.group.fragments ?? []
  const deciding = fragments.findIndex(({ hasVideo }) => hasVideo)
  return fragments.slice(0, Math.max(deciding, 0) + 1).every(({ isTruncated }) => !isTruncated)
}

function growthOf(source: Fmp4Source, stableSplitPoints: number): Growth {
  const [from = 0, second = 0] = source.offsets
  const to = second > from ? second : (source.splitGroupEnds[0] ?? from)
  return describeGrowth(stableSplitPoints, { from, to })
}
