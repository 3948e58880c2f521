// Takes groups of fragments in order: opens sections, makes cuts, and accounts for what the samples span.
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME } from '../../media-index.ts'
import type { Fmp4Section, Waiting } from '../fmp4-source.ts'
import type { EndedGroup } from './group.ts'
import { splitVideo, splitAudio, forEachSample } from './group-split-points.ts'
import { type Group, type ScanState, leadTrack } from './scan-state.ts'
import {
  addSplitPoint,
  appendSplitPoints,
  noteTracks,
  openSection,
  settle,
  settleIfDue,
  spanSamples,
} from './section.ts'

/** Takes a group into the state. */
export function applyGroup(state: ScanState, { group, end, progress }: EndedGroup): void {
  const init = state.inits[group.init]
  if (init === undefined) return
  if (group.breaks !== undefined) noteBreak(state, group, group.breaks)
  const lead = leadTrack(init)
  const firstSplitPoint = state.splitPoints.offsets.length
  const { waiting } = state
  const section =
    waiting === undefined
      ? state.sections.at(-1)
      : tryOpen(state, group, { waiting, lead, progress })
  if (section === undefined) return
  if (waiting === undefined) settleIfDue(state, section)
  noteTracks(state, section, progress)
  const skip =
    state.splitPoints.offsets.length > firstSplitPoint
      ? (state.splitPoints.inside.at(-1) ?? 0) + 1
      : 0
  const audio = init.tracks.findIndex((track) => track?.kind === 'audio')
  if (group.hasVideo) splitVideo(state, group, { section, init, track: lead, skip })
  else if (audio >= 0) splitAudio(state, group, { section, init, track: audio, skip })
  if (state.splitPoints.inside.slice(firstSplitPoint).some((count) => count > 0)) {
    state.innerStarts.push(group.start)
    state.innerEnds.push(end)
  }
  spanSamples(section, group, init)
  appendSplitPoints(state, section)
}

function noteBreak(state: ScanState, group: Group, breaks: Exclude<Waiting, 'start'>): void {
  const section = state.sections.at(-1)
  if (section !== undefined && state.waiting === undefined) {
    settle(state, section)
    section.end = group.start
  }
  const { waiting } = state
  state.waiting = waiting === 'start' || waiting === 'init' ? waiting : breaks
}

interface OpenPlan {
  waiting: Waiting
  lead: number
  progress: EndedGroup['progress']
}

/**
 * Opens a section where the group has what is waited for: a key frame, any sound where there are no pictures, or, on a
 * clock that jumped, any picture, since the pictures go on.
 */
function tryOpen(
  state: ScanState,
  group: Group,
  { waiting, lead, progress }: OpenPlan,
): Fmp4Section | undefined {
  const init = state.inits[group.init] ?? { tracks: [] }
  const isVideo = init.tracks[lead]?.kind === 'video'
  const entry = findEntry(group, lead, isVideo && waiting !== 'jump' ? 'keys' : 'any')
  if (entry === undefined) return undefined
  const isFirst = state.sections.length === 0
  const section = openSection(state, group)
  noteTracks(state, section, progress)
  const flags = (isVideo && entry.isKey ? SPLIT_KEY_FRAME : 0) | (isFirst ? 0 : SPLIT_DISCONTINUITY)
  forEachSample(group, { section, init, track: lead }, ({ at, ticks, seconds }) => {
    if (at !== entry.at) return
    addSplitPoint(state, group, { inside: at, ticks, track: lead, flags })
    state.lastKeySeconds = seconds
    state.highestSeconds = seconds
  })
  state.waiting = undefined
  return section
}

/** The first key frame; where any sample will do, a key frame is still better if the group has one. */
function findEntry(
  { fragments }: Group,
  lead: number,
  wanted: 'keys' | 'any',
): { at: number; isKey: boolean } | undefined {
  const runs = fragments.flatMap((fragment) => fragment.runs.filter(({ track }) => track === lead))
  let at = 0
  for (const { keys } of runs) {
    const key = keys.indexOf(1)
    if (key >= 0) return { at: at + key, isKey: true }
    at += keys.length
  }
  return wanted === 'any' && at > 0 ? { at: 0, isKey: false } : undefined
}
