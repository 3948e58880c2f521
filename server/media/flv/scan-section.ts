// Opens and closes the sections of an FLV recording, and adds split points.
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME } from '../media-index.ts'
import {
  checkSections,
  checkSplitPoints,
  isStartOpen,
  moveLastStart,
} from '../timeline/split-points.ts'
import { RULES } from '../timeline/timeline-rules.ts'
import { MAX_PAUSE_AT_HEADER_MS } from './flv-limits.ts'
import { NO_FRAME } from './flv-source.ts'
import type { Mark, ScanState } from './flv-source.ts'
import { flvRules, placeAudio, placeFrame, setClock } from './scan-clock.ts'
import { noteFlaw } from './scan-state.ts'
import type { Scan } from './scan-state.ts'

/** A position at which a segment may begin. */
export interface SplitPoint {
  position: number
  startMs: number
  flags: number
  leadMs: number
}

export function addSplitPoint({ state, splitPoints }: Scan, splitPoint: SplitPoint): void {
  checkSplitPoints(splitPoints.offsets.length)
  splitPoints.offsets.push(splitPoint.position)
  splitPoints.startMs.push(splitPoint.startMs)
  splitPoints.flags.push(splitPoint.flags)
  splitPoints.leadMs.push(splitPoint.leadMs)
  splitPoints.audioEnds.push(state.audioEndTicks)
  splitPoints.sampleCounts.push(state.counts.samples)
  state.lastSplitPointMs = splitPoint.startMs
  if ((splitPoint.flags & SPLIT_KEY_FRAME) !== 0) state.lastKeySplitPointMs = splitPoint.startMs
}

/** Whether the split point with these flags is open at its start, if it is the last one. */
export function isOpen(
  flags: number | undefined,
  { latestFrameMs, lastKeySplitPointMs }: ScanState,
): boolean {
  return isStartOpen(flags, latestFrameMs, lastKeySplitPointMs)
}

/** A split point starts with the frame that is shown first, which may be a later one. */
export function moveStartBack({ state, splitPoints }: Scan, startMs: number): void {
  const { startMs: starts, leadMs, flags } = splitPoints
  const last = starts.length - 1
  const lead = leadMs[last] ?? NO_FRAME
  const isFrame = isOpen(flags[last], state) && lead !== NO_FRAME
  if (!isFrame || startMs >= state.lastSplitPointMs) return
  const moved = moveLastStart(starts, startMs)
  // The decode time of its first frame stays.
  leadMs[last] = lead + moved - state.lastSplitPointMs
  state.lastSplitPointMs = moved
}

/** Closes the section before `position`, and waits for a frame that can begin the next one. */
export function closeSection(scan: Scan, position: number, begin: 'key frame' | 'any frame'): void {
  const { state, sections } = scan
  const section = sections.at(-1)
  if (section !== undefined && state.mode !== 'waiting') section.endOffset = position
  state.mode = 'waiting'
  state.pending = []
  state.needsKey = begin === 'key frame'
  state.sawFrame = false
}

/**
 * Begins a section with the frames that waited, and returns them to be served next. Its clock
 * continues that of the last section if the timestamps do; else its first frame is shown at the
 * end of that section.
 */
export function openSection(scan: Scan): Mark[] {
  const { state, sections } = scan
  checkSections(sections.length)
  const marks = withoutFarAudio(state.pending)
  const frame = marks.find(({ kind }) => kind === 'frame')
  const audio = marks.find(({ kind }) => kind === 'audio')
  const first = marks[0]
  state.pending = []
  state.mode = 'running'
  if (first === undefined) return []
  const isContinued = goesOn(scan, frame ?? first)
  const startMs = isContinued ? continueClock(state, marks) : beginClock(scan, marks, frame)
  if (!isContinued) noteBreak(scan, first.position, startMs)
  state.audioEndTicks = NaN
  sections.push({
    firstSplitPoint: scan.splitPoints.offsets.length,
    endOffset: first.position,
    ...(frame && { video: frame.config }),
    ...(audio && { audio: audio.config }),
  })
  const frameMs = frame && frame.rawMs + frame.compositionMs + state.video.shiftMs
  const isEarly = frameMs !== undefined && frameMs - startMs < RULES.flv.forcedAfterSeconds * 1000
  const isKey = frame?.isKey === true && isEarly
  const flags = (sections.length > 1 ? SPLIT_DISCONTINUITY : 0) | (isKey ? SPLIT_KEY_FRAME : 0)
  addSplitPoint(scan, { position: first.position, startMs, flags, leadMs: NO_FRAME })
  state.firstSplitPointHoldsFrame = isEarly
  state.latestFrameMs = startMs
  state.lastKeyMs = startMs
  state.isNewFile = false
  state.isFresh = false
  return marks
}

function noteBreak(scan: Scan, offsetBytes: number, startMs: number): void {
  const seconds = startMs / 1000
  if (scan.state.sawFrame) {
    noteFlaw(scan, { code: 'frames-undecodable', offsetBytes, seconds })
  } else if (scan.sections.length > 0) {
    noteFlaw(scan, { code: 'gap', offsetBytes, seconds })
  }
}

/** Audio before the first frame of video belongs to it only if it leads up to it. */
function withoutFarAudio(marks: Mark[]): Mark[] {
  const at = marks.findIndex(({ kind }) => kind === 'frame')
  const frame = marks[at]
  const before = marks[at - 1]
  if (frame === undefined || before === undefined) return marks
  return flvRules.isNear(before.rawMs, frame.rawMs) ? marks : marks.slice(at)
}

function goesOn({ state, sections }: Scan, lead: Mark): boolean {
  if (sections.length === 0 || state.sawFrame) return false
  const isFrame = lead.kind === 'frame'
  const track = isFrame ? state.video : state.audio
  const shiftMs = isFrame ? placeFrame(state, lead.rawMs) : placeAudio(state, lead.rawMs)
  if (shiftMs !== track.shiftMs) return false
  // Video after audio alone may continue on the clock of that audio.
  const lastMs = track.lastMs ?? state.audio.lastMs
  if (lastMs === undefined) return false
  const stepMs = lead.rawMs + shiftMs - lastMs
  if (state.isNewFile) return stepMs >= 0 && stepMs <= MAX_PAUSE_AT_HEADER_MS
  return track.lastMs !== undefined || flvRules.isNear(stepMs, 0)
}

function continueClock(state: ScanState, marks: Mark[]): number {
  const times = marks.map(({ kind, rawMs, compositionMs }) => {
    return rawMs + compositionMs + (kind === 'frame' ? state.video : state.audio).shiftMs
  })
  const earliest = times.reduce((a, b) => Math.min(a, b), Infinity)
  return Math.max(earliest, state.lastSplitPointMs + 1)
}

/** Sets both clocks so that the first frame is shown at the current end of the session. */
function beginClock(scan: Scan, marks: Mark[], frame: Mark | undefined): number {
  const { state } = scan
  const startMs = Math.max(state.endMs, state.lastSplitPointMs + 1)
  const audioTracks = marks.filter(({ kind }) => kind === 'audio')
  const near = audioTracks.filter(({ rawMs }) => flvRules.isNear(rawMs, frame?.rawMs ?? rawMs))
  const frames = marks.filter(({ kind }) => kind === 'frame')
  const origin = [...near, ...frames].reduce(
    (earliest, { rawMs, compositionMs }) => Math.min(earliest, rawMs + compositionMs),
    Infinity,
  )
  const position = marks[0]?.position ?? 0
  const shiftMs = startMs - origin
  setClock(scan, 'video', { position, shiftMs })
  state.video.lastMs = undefined
  const far = audioTracks[0]
  if (near.length > 0 || far === undefined) {
    const isUnheard = far === undefined && state.audio.lastMs !== undefined
    if (isUnheard) return startMs
    setClock(scan, 'audio', { position, shiftMs })
    state.audio.lastMs = undefined
  } else if (placeAudio(state, far.rawMs) !== state.audio.shiftMs) {
    setClock(scan, 'audio', { position, shiftMs: startMs - far.rawMs })
    state.audio.lastMs = undefined
  }
  return startMs
}
