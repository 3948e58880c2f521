// Sections of a recording, each with its own clock. A section is opened at a discontinuity, and
// settled when its earliest time is known and so its position on the session timeline.
import { checkSections, checkSplitPoints, moveLastStart } from '../../timeline/split-points.ts'
import { MAX_SESSION_SECONDS } from '../../timeline/timeline-rules.ts'
import type { Fmp4Init, Fmp4Section, TrackProgress } from '../fmp4-source.ts'
import { UnplayableError } from '../../../base/errors.ts'
import {
  type Group,
  type ScanState,
  leadTrack,
  rescale,
  sectionSeconds,
  servedTicks,
  sessionShift,
} from './scan-state.ts'

/**
 * A section is settled after this duration if all tracks have occurred, and after the longer one in
 * any case.
 */
const SETTLE_SECONDS = 1
const LONGEST_SETTLE_SECONDS = 10

/** Opens a section at a group. */
export function openSection(state: ScanState, group: Group): Fmp4Section {
  const last = state.sections.at(-1)
  checkSections(state.sections.length)
  const trackCount = state.tracks.length
  const section: Fmp4Section = {
    firstSplitPoint: state.splitPoints.offsets.length,
    init: group.init,
    descriptions: Array.from({ length: trackCount }, () => 0),
    start: group.start,
    end: Infinity,
    startSeconds: last === undefined ? 0 : sessionEnd(last),
    origins: Array.from({ length: trackCount }, () => NaN),
    earliestSeconds: Infinity,
    latestSeconds: -Infinity,
    leadTicks: 0,
    isSettled: false,
    untimedSplitPoints: [],
  }
  state.sections.push(section)
  state.lastSplitPointSeconds = -Infinity
  state.lastKeySeconds = -Infinity
  state.latestFrameSeconds = -Infinity
  return section
}

/** Records the clocks of tracks that occur for the first time in the section. */
export function recordTracks(
  state: ScanState,
  section: Fmp4Section,
  progress: readonly TrackProgress[],
): void {
  progress.forEach(({ origin, description, isSeen }, track) => {
    if (Number.isNaN(section.origins[track] ?? NaN)) section.origins[track] = origin
    if (!Number.isNaN(origin) && section.descriptions[track] === 0) {
      section.descriptions[track] = description
    }
    if (isSeen && !state.isServedFinal) state.isServed[track] = true
  })
}

/** Session time of the end of the section's last sample. */
export function sessionEnd(section: Fmp4Section): number {
  const { startSeconds, earliestSeconds, latestSeconds } = section
  return startSeconds + Math.max(latestSeconds - earliestSeconds, 0)
}

/** Settles the section if enough samples precede the group. */
export function settleIfDue(state: ScanState, section: Fmp4Section): void {
  if (section.isSettled) return
  const seconds = section.latestSeconds - section.earliestSeconds
  const tracks = state.inits[section.init]?.tracks ?? []
  const isComplete = tracks.every(
    (track, at) => track === undefined || !Number.isNaN(section.origins[at] ?? NaN),
  )
  if (seconds >= (isComplete ? SETTLE_SECONDS : LONGEST_SETTLE_SECONDS)) settle(state, section)
}

/** Makes the section's times final. */
export function settle(state: ScanState, section: Fmp4Section): void {
  section.isSettled = true
  state.isServedFinal = true
  assignStartTimes(state, section)
  section.untimedSplitPoints = []
}

/** Extends the section by a group's samples. */
export function extendSection(section: Fmp4Section, group: Group, init: Fmp4Init): void {
  for (const run of group.fragments.flatMap(({ runs }) => runs)) {
    const track = init.tracks[run.track]
    if (track === undefined) continue
    let decodeTicks = run.decodeTicks
    let [earliest, latest, lowest] = [Infinity, -Infinity, 0]
    for (let i = 0; i < run.sizes.length; i += 1) {
      const offset = run.compositionOffsets[i] ?? 0
      if (offset < lowest) lowest = offset
      if (decodeTicks + offset < earliest) earliest = decodeTicks + offset
      decodeTicks += run.durations[i] ?? 0
      if (decodeTicks + offset > latest) latest = decodeTicks + offset
    }
    const trackClock = { number: run.track, timescale: track.timescale }
    const seconds = (ticks: number) =>
      sectionSeconds(section, trackClock, servedTicks(track, ticks))
    section.latestSeconds = Math.max(section.latestSeconds, seconds(latest))
    if (section.isSettled) continue
    section.earliestSeconds = Math.min(section.earliestSeconds, seconds(earliest))
    if (track.kind === 'video') {
      section.leadTicks = Math.max(section.leadTicks, -lowest * track.tickScale)
    }
  }
  if (!(sessionEnd(section) <= MAX_SESSION_SECONDS)) {
    throw new UnplayableError({ code: 'timestamps-invalid' })
  }
}

export interface NewSplitPoint {
  /** Samples of the lead track in the group before it. */
  samplesBefore: number
  /** Presentation time on the file's clock, in output ticks of `track`. */
  ticks: number
  track: number
  flags: number
}

/** Adds a split point to the last section. */
export function addSplitPoint(state: ScanState, group: Group, splitPoint: NewSplitPoint): void {
  const { splitPoints } = state
  const section = state.sections.at(-1)
  const timescale = state.inits[group.init]?.tracks[splitPoint.track]?.timescale
  if (section === undefined || timescale === undefined) return
  checkSplitPoints(splitPoints.offsets.length)
  splitPoints.offsets.push(group.start)
  splitPoints.samplesBefore.push(splitPoint.samplesBefore)
  splitPoints.flags.push(splitPoint.flags)
  splitPoints.startTicks.push(0)
  group.stateBefore.progress.forEach(({ nextTicks }, at) =>
    splitPoints.decodeTicks[at]?.push(nextTicks),
  )
  section.untimedSplitPoints.push({ track: splitPoint.track, ticks: splitPoint.ticks })
  const trackClock = { number: splitPoint.track, timescale }
  state.lastSplitPointSeconds = sectionSeconds(section, trackClock, splitPoint.ticks)
}

/** Moves the last split point back to a frame that is shown before the frame it starts with. */
export function moveSplitPointBack(state: ScanState, section: Fmp4Section, ticks: number): void {
  const untimed = section.untimedSplitPoints.at(-1)
  if (untimed !== undefined) {
    untimed.ticks = Math.min(untimed.ticks, ticks)
    return
  }
  const lead = leadTrack(state.inits[section.init] ?? { tracks: [] })
  const timescale = state.inits[section.init]?.tracks[lead]?.timescale ?? state.timescale
  const session = rescale(
    ticks + sessionShift(section, lead, timescale),
    timescale,
    state.timescale,
  )
  moveLastStart(state.splitPoints.startTicks, session)
}

/**
 * Assigns start times to the section's split points, as far as its times are known. The first one
 * is at the start of the section, whatever the time of its first frame; times are strictly
 * increasing.
 */
export function assignStartTimes(state: ScanState, section: Fmp4Section): void {
  const { startTicks } = state.splitPoints
  const init = state.inits[section.init]
  const firstUntimed = startTicks.length - section.untimedSplitPoints.length
  section.untimedSplitPoints.forEach(({ track, ticks }, i) => {
    const splitPoint = firstUntimed + i
    const timescale = init?.tracks[track]?.timescale ?? state.timescale
    const sessionTicks = ticks + sessionShift(section, track, timescale)
    const start =
      splitPoint === section.firstSplitPoint
        ? Math.round(section.startSeconds * state.timescale)
        : rescale(sessionTicks, timescale, state.timescale)
    startTicks[splitPoint] =
      splitPoint === 0 ? 0 : Math.max(start, (startTicks[splitPoint - 1] ?? 0) + 1)
  })
  if (section.isSettled) section.untimedSplitPoints = []
}
