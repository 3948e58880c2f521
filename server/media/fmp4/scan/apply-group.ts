// Applies groups of fragments to the scan state, in file order: opens sections, and adds split
// points.
import { takeFrameSets } from '../../codec/parameter-sets.ts'
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME } from '../../media-index.ts'
import { hasSetsInBand, recordedBy } from '../../mp4/sample-entries/sample-sets.ts'
import { PCM_SAMPLES_PER_COST } from '../../timeline/segment-limits.ts'
import type { Fmp4Init, Fmp4Section, SectionCause } from '../fmp4-source.ts'
import type { EndedGroup } from './fragment-grouper.ts'
import { forEachSample, samplesOf, splitAudio, splitVideo } from './split-group.ts'
import { leadTrack, type Group, type ScanState } from './scan-state.ts'
import {
  addSplitPoint,
  assignStartTimes,
  extendSection,
  openSection,
  recordTracks,
  settle,
  settleIfDue,
} from './section.ts'

export function applyGroup(state: ScanState, { group, end, progress }: EndedGroup): void {
  const init = state.inits[group.init]
  if (init === undefined) return
  if (group.discontinuity !== undefined) startDiscontinuity(state, group, group.discontinuity)
  const lead = leadTrack(init)
  const firstSplitPoint = state.splitPoints.offsets.length
  const { pendingSection } = state
  const section =
    pendingSection === undefined
      ? state.sections.at(-1)
      : tryOpen(state, group, { pendingSection, lead, progress })
  if (section === undefined) return
  if (pendingSection === undefined) settleIfDue(state, section)
  recordTracks(state, section, progress)
  const skip =
    state.splitPoints.offsets.length > firstSplitPoint
      ? (state.splitPoints.samplesBefore.at(-1) ?? 0) + 1
      : 0
  const audio = init.tracks.findIndex((track) => track?.kind === 'audio')
  if (group.hasVideo) splitVideo(state, group, { section, init, track: lead, skip })
  else if (audio >= 0) splitAudio(state, group, { section, init, track: audio, skip })
  if (state.splitPoints.samplesBefore.slice(firstSplitPoint).some((count) => count > 0)) {
    state.splitGroupStarts.push(group.start)
    state.splitGroupEnds.push(end)
  }
  takeSets(state, group, { init, track: lead, firstSplitPoint })
  countSamples(state, group, { init, lead, firstSplitPoint })
  extendSection(section, group, init)
  assignStartTimes(state, section)
}

/**
 * Counts the samples of a group. A split point inside it has the share of all samples that it has
 * of those of the lead track.
 */
function countSamples(
  state: ScanState,
  { fragments }: Group,
  { init, lead, firstSplitPoint }: { init: Fmp4Init; lead: number; firstSplitPoint: number },
): void {
  const { samplesBefore, sampleCounts } = state.splitPoints
  let total = 0
  let leadTotal = 0
  for (const { track, sizes } of fragments.flatMap(({ runs }) => runs)) {
    const isPcm = init.tracks[track]?.packetSamples !== undefined
    total += isPcm ? sizes.length / PCM_SAMPLES_PER_COST : sizes.length
    if (track === lead) leadTotal += sizes.length
  }
  for (const before of samplesBefore.slice(firstSplitPoint)) {
    const share = leadTotal === 0 ? 0 : (before / leadTotal) * total
    sampleCounts.push(Math.floor(state.sampleCount + share))
  }
  state.sampleCount += Math.ceil(total)
}

function startDiscontinuity(
  state: ScanState,
  group: Group,
  discontinuity: Exclude<SectionCause, 'start'>,
): void {
  const section = state.sections.at(-1)
  if (section !== undefined && state.pendingSection === undefined) {
    settle(state, section)
    section.end = group.start
  }
  const { pendingSection } = state
  state.pendingSection =
    pendingSection === 'start' || pendingSection === 'init' ? pendingSection : discontinuity
}

interface SetsPlan {
  init: Fmp4Init
  track: number
  /** First split point of the group. */
  firstSplitPoint: number
}

/** Records the parameter sets in the key frames of a group. */
function takeSets(
  state: ScanState,
  group: Group,
  { init, track, firstSplitPoint }: SetsPlan,
): void {
  const { samplesBefore } = state.splitPoints
  const splitPoints = new Map(
    samplesBefore.slice(firstSplitPoint).map((before, at) => [before, firstSplitPoint + at]),
  )
  let before = 0
  for (const { description, sets, sizes } of samplesOf(group, track)) {
    const decoder = init.tracks[track]?.descriptions[description - 1]?.decoder
    if (hasSetsInBand(decoder)) {
      const { codec } = decoder
      const { sets: recorded } = recordedBy(decoder)
      sets?.forEach((own, at) => {
        takeFrameSets(state.sets, { codec, recorded, own }, splitPoints.get(before + at))
      })
    }
    before += sizes.length
  }
}

interface OpenPlan {
  pendingSection: SectionCause
  lead: number
  progress: EndedGroup['progress']
}

/**
 * Opens a section if the group has a suitable first sample: a key frame, any sample without video,
 * or any frame after a timestamp jump, as the video continues.
 */
function tryOpen(
  state: ScanState,
  group: Group,
  { pendingSection, lead, progress }: OpenPlan,
): Fmp4Section | undefined {
  const init = state.inits[group.init] ?? { tracks: [] }
  const isVideo = init.tracks[lead]?.kind === 'video'
  const entry = findEntry(group, lead, isVideo && pendingSection !== 'jump' ? 'keys' : 'any')
  if (entry === undefined) return undefined
  const isFirst = state.sections.length === 0
  if (pendingSection !== 'jump') state.sets.inForce = []
  const section = openSection(state, group)
  recordTracks(state, section, progress)
  const flags = (isVideo && entry.isKey ? SPLIT_KEY_FRAME : 0) | (isFirst ? 0 : SPLIT_DISCONTINUITY)
  forEachSample(group, { section, init, track: lead }, ({ at, ticks, seconds }) => {
    if (at !== entry.at) return
    addSplitPoint(state, group, { samplesBefore: at, ticks, track: lead, flags })
    state.lastKeySeconds = seconds
    state.latestFrameSeconds = seconds
  })
  state.pendingSection = undefined
  return section
}

/** The first key frame, or else the first sample if any is acceptable. */
function findEntry(
  { fragments }: Group,
  lead: number,
  requested: 'keys' | 'any',
): { at: number; isKey: boolean } | undefined {
  const runs = fragments.flatMap((fragment) => fragment.runs.filter(({ track }) => track === lead))
  let at = 0
  for (const { keys } of runs) {
    const key = keys.indexOf(1)
    if (key >= 0) return { at: at + key, isKey: true }
    at += keys.length
  }
  return requested === 'any' && at > 0 ? { at: 0, isKey: false } : undefined
}
