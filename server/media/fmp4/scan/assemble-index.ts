// Turns what a scan found into an index, and an index back into what a scan goes on with.
import type { Growth, MediaIndex, RecordingLimitation } from '../../media-index.ts'
import { describeGrowth } from '../../timeline/growth.ts'
import { applyGroup } from './apply-group.ts'
import type { Fmp4Resume, Fmp4Source } from '../fmp4-source.ts'
import { describeFlaws } from './fragment-limitations.ts'
import type { SkippedBytes } from '../fragments/fragment-walk.ts'
import type { EndedGroup, Gatherer } from './group.ts'
import { type ScanState, createScanState } from './scan-state.ts'
import { sessionEnd } from './section.ts'

/** What a scan ended with. */
export interface ScanEnd {
  state: ScanState
  gatherer: Gatherer
  /** Where it began. */
  position: number
  /** Fragments at the end of the file: not applied yet, since more may come to them. */
  last: EndedGroup | undefined
  skipped: readonly SkippedBytes[]
  /** Notes from before the scan. */
  kept: readonly RecordingLimitation[]
}

/** The index; without cuts where nothing was found that can be played. */
export function assembleIndex(sizeBytes: number, end: ScanEnd): MediaIndex {
  const { state, gatherer, last } = end
  const resume = lookBack(end)
  if (last !== undefined) applyGroup(state, last)
  const { splitPoints, sections } = state
  const stableSplitPoints = countStable(state, resume, last)
  const section = sections.at(-1)
  const endTicks = section ? Math.round(sessionEnd(section) * state.timescale) : 0
  const served = state.isServed.flatMap((isServed, track) => (isServed ? [track] : []))
  const source: Fmp4Source = {
    container: 'fmp4',
    sizeBytes,
    offsets: Float64Array.from(splitPoints.offsets),
    inside: Uint32Array.from(splitPoints.inside),
    innerStarts: Float64Array.from(state.innerStarts),
    innerEnds: Float64Array.from(state.innerEnds),
    ...(gatherer.lacksTimes && {
      decodeTicks: splitPoints.decodeTicks.map((ticks) => Float64Array.from(ticks)),
    }),
    sections,
    inits: state.inits,
    keys: state.keys,
    served,
    ...(state.head && { head: state.head }),
    resume,
  }
  const limitations = describeFlaws({
    ...end,
    sections,
    splitPoints: { ...splitPoints, timescale: state.timescale },
  })
  return {
    tracks: served.flatMap((track) => state.tracks[track] ?? []),
    splitPoints: {
      timescale: state.timescale,
      startTicks: Float64Array.from(splitPoints.startTicks),
      endTicks: Math.max(endTicks, (splitPoints.startTicks.at(-1) ?? 0) + 1),
      flags: Uint8Array.from(splitPoints.flags),
    },
    ...(limitations && { limitations }),
    growth: growthOf(source, stableSplitPoints),
    source,
  }
}

/** The state in front of the last group, as plain values. */
function lookBack({ state, gatherer, position, last }: ScanEnd): Fmp4Resume {
  const before = last?.group.before ?? gatherer.lookup()
  const lastSection = state.sections.at(-1)
  return {
    position: last?.group.start ?? position,
    splitPointCount: state.splitPoints.offsets.length,
    innerCount: state.innerStarts.length,
    sectionCount: state.sections.length,
    ...(lastSection && { lastSection: structuredClone(lastSection) }),
    ...before,
    ...(state.waiting && { waiting: state.waiting }),
    lastSplitPointSeconds: state.lastSplitPointSeconds,
    lastKeySeconds: state.lastKeySeconds,
    highestSeconds: state.highestSeconds,
    isServed: [...state.isServed],
    isServedFixed: state.isServedFixed,
  }
}

/** State to go on from an index. Tracks that it does not list are not served any more. */
export function restoreState({ splitPoints, tracks }: MediaIndex, source: Fmp4Source): ScanState {
  const { resume, inits, keys, head, served } = source
  const [first = { tracks: [] }] = inits
  const announced = first.tracks.map((_, number) => tracks[served.indexOf(number)])
  const { splitPointCount, innerCount, sectionCount, lastSection } = resume
  const sections = source.sections.slice(0, Math.max(sectionCount - 1, 0))
  if (lastSection !== undefined) sections.push(structuredClone(lastSection))
  return {
    ...createScanState({ tracks: announced, keys, init: first }, head),
    inits: [...inits],
    splitPoints: {
      offsets: [...source.offsets.subarray(0, splitPointCount)],
      inside: [...source.inside.subarray(0, splitPointCount)],
      startTicks: [...splitPoints.startTicks.subarray(0, splitPointCount)],
      flags: [...splitPoints.flags.subarray(0, splitPointCount)],
      // Where none are kept, no fragment needs them.
      decodeTicks: announced.map((_, track) => [
        ...(source.decodeTicks?.[track]?.subarray(0, splitPointCount) ??
          new Float64Array(splitPointCount)),
      ]),
    },
    innerStarts: [...source.innerStarts.subarray(0, innerCount)],
    innerEnds: [...source.innerEnds.subarray(0, innerCount)],
    sections,
    waiting: resume.waiting,
    lastSplitPointSeconds: resume.lastSplitPointSeconds,
    lastKeySeconds: resume.lastKeySeconds,
    highestSeconds: resume.highestSeconds,
    isServed: [...resume.isServed],
    isServedFixed: resume.isServedFixed,
  }
}

/** Cuts in front of the last group whose time is final, and one with which that group begins. */
function countStable(
  { splitPoints, sections }: ScanState,
  { splitPointCount }: Fmp4Resume,
  last: EndedGroup | undefined,
): number {
  const beginsGroup = splitPoints.inside[splitPointCount] === 0
  const fixed = beginsGroup && isWholeAtStart(last) ? splitPointCount + 1 : splitPointCount
  const open = sections.find(({ isSettled }) => !isSettled)
  if (open === undefined) return fixed
  // Where a section starts is known before where its later cuts are; the first of all waits for the start itself.
  return Math.min(fixed, open.firstSplitPoint === 0 ? 0 : open.firstSplitPoint + 1)
}

/** Whether the samples by which a group is cut first are all there; what comes to the group later makes no difference. */
function isWholeAtStart(last: EndedGroup | undefined): boolean {
  const fragments = last?.group.fragments ?? []
  const deciding = fragments.findIndex(({ hasVideo }) => hasVideo)
  return fragments.slice(0, Math.max(deciding, 0) + 1).every(({ isTruncated }) => !isTruncated)
}

function growthOf(source: Fmp4Source, stableSplitPoints: number): Growth {
  const [from = 0, second = 0] = source.offsets
  const to = second > from ? second : (source.innerEnds[0] ?? from)
  return describeGrowth(stableSplitPoints, { from, to })
}
