// Sections of a recording: stretches on one clock. Opened at a break, settled once their earliest time is known, then laid on the session's timeline.
import { AppError } from '../../../errors.ts'
import {
  MAX_SECTIONS,
  MAX_SESSION_SECONDS,
  MAX_SPLIT_POINTS,
} from '../../timeline/timeline-rules.ts'
import type { Fmp4Init, Fmp4Section, TrackProgress } from '../fmp4-source.ts'
import {
  type Group,
  type ScanState,
  rescale,
  sectionSeconds,
  servedTicks,
  sessionShift,
} from './scan-state.ts'

/** A section settles when all tracks have come and this much, or in any case after the longer time. */
const SETTLE_SECONDS = 1
const LONGEST_SETTLE_SECONDS = 10

/** Opens a section with a group. */
export function openSection(state: ScanState, group: Group): Fmp4Section {
  const last = state.sections.at(-1)
  if (state.sections.length >= MAX_SECTIONS) {
    throw new AppError('unplayable', 'its time stamps break too often')
  }
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
    waitingSplitPoints: [],
  }
  state.sections.push(section)
  state.lastSplitPointSeconds = -Infinity
  state.lastKeySeconds = -Infinity
  state.highestSeconds = -Infinity
  return section
}

/** Notes the clocks of tracks that are seen for the first time in the section. */
export function noteTracks(
  state: ScanState,
  section: Fmp4Section,
  progress: readonly TrackProgress[],
): void {
  progress.forEach(({ origin, description, isSeen }, track) => {
    if (Number.isNaN(section.origins[track] ?? NaN)) section.origins[track] = origin
    if (!Number.isNaN(origin) && section.descriptions[track] === 0) {
      section.descriptions[track] = description
    }
    if (isSeen && !state.isServedFixed) state.isServed[track] = true
  })
}

/** Where the section's last sample ends in the session, in seconds. */
export function sessionEnd(section: Fmp4Section): number {
  const { startSeconds, earliestSeconds, latestSeconds } = section
  return startSeconds + Math.max(latestSeconds - earliestSeconds, 0)
}

/** Settles the section where a group begins before which enough has come. */
export function settleIfDue(state: ScanState, section: Fmp4Section): void {
  if (section.isSettled) return
  const seconds = section.latestSeconds - section.earliestSeconds
  const tracks = state.inits[section.init]?.tracks ?? []
  const isComplete = tracks.every(
    (track, at) => track === undefined || !Number.isNaN(section.origins[at] ?? NaN),
  )
  if (seconds >= (isComplete ? SETTLE_SECONDS : LONGEST_SETTLE_SECONDS)) settle(state, section)
}

/** What is known of the section's times is final. */
export function settle(state: ScanState, section: Fmp4Section): void {
  section.isSettled = true
  state.isServedFixed = true
  appendSplitPoints(state, section)
  section.waitingSplitPoints = []
}

/** Accounts for a group's samples in the section. */
export function spanSamples(section: Fmp4Section, group: Group, init: Fmp4Init): void {
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
    const place = { number: run.track, timescale: track.timescale }
    const seconds = (ticks: number) => sectionSeconds(section, place, servedTicks(track, ticks))
    section.latestSeconds = Math.max(section.latestSeconds, seconds(latest))
    if (section.isSettled) continue
    section.earliestSeconds = Math.min(section.earliestSeconds, seconds(earliest))
    if (track.kind === 'video') {
      section.leadTicks = Math.max(section.leadTicks, -lowest * track.tickScale)
    }
  }
  if (!(sessionEnd(section) <= MAX_SESSION_SECONDS)) {
    throw new AppError('unplayable', 'the file is damaged: its times are out of all reason')
  }
}

/** A cut to be added. */
export interface NewSplitPoint {
  /** Samples of the leading track in the group that come before it. */
  inside: number
  /** Its presentation time on the file's clock, in served ticks of a track. */
  ticks: number
  track: number
  flags: number
}

/** Adds a cut to the last section. */
export function addSplitPoint(state: ScanState, group: Group, splitPoint: NewSplitPoint): void {
  const { splitPoints } = state
  const section = state.sections.at(-1)
  const timescale = state.inits[group.init]?.tracks[splitPoint.track]?.timescale
  if (section === undefined || timescale === undefined) return
  if (splitPoints.offsets.length >= MAX_SPLIT_POINTS)
    throw new AppError('unplayable', 'it is cut up too finely')
  splitPoints.offsets.push(group.start)
  splitPoints.inside.push(splitPoint.inside)
  splitPoints.flags.push(splitPoint.flags)
  splitPoints.startTicks.push(0)
  group.before.progress.forEach(({ nextTicks }, at) => splitPoints.decodeTicks[at]?.push(nextTicks))
  section.waitingSplitPoints.push({ track: splitPoint.track, ticks: splitPoint.ticks })
  const place = { number: splitPoint.track, timescale }
  state.lastSplitPointSeconds = sectionSeconds(section, place, splitPoint.ticks)
}

/**
 * Gives the section's waiting cuts their times, by what is known of it now. The first is where the section starts,
 * wherever its first picture is; each is later than the one before.
 */
export function appendSplitPoints(state: ScanState, section: Fmp4Section): void {
  const { startTicks } = state.splitPoints
  const init = state.inits[section.init]
  const firstWaiting = startTicks.length - section.waitingSplitPoints.length
  section.waitingSplitPoints.forEach(({ track, ticks }, i) => {
    const splitPoint = firstWaiting + i
    const timescale = init?.tracks[track]?.timescale ?? state.timescale
    const own = ticks + sessionShift(section, track, timescale)
    const start =
      splitPoint === section.firstSplitPoint
        ? Math.round(section.startSeconds * state.timescale)
        : rescale(own, timescale, state.timescale)
    startTicks[splitPoint] =
      splitPoint === 0 ? 0 : Math.max(start, (startTicks[splitPoint - 1] ?? 0) + 1)
  })
  if (section.isSettled) section.waitingSplitPoints = []
}
