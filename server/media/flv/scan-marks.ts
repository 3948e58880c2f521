// Processes the frames of an FLV recording: which are served, on which clock, and where it is
// split.
import { DEFAULT_FRAME_SECONDS, MAX_FORWARD_SECONDS } from '../timeline/timeline-rules.ts'
import { recordedSets, takeFrameSets } from '../codec/parameter-sets.ts'
import { AUDIO_WAIT_MS, MAX_PENDING, OPENING_MS } from './flv-limits.ts'
import { NO_FRAME } from './flv-source.ts'
import type { FlvSection, Mark } from './flv-source.ts'
import { flvRules, placeAudio, placeFrame, setClock, snapAudio } from './scan-clock.ts'
import { addSplitPoint, closeSection, moveStartBack, openSection } from './scan-section.ts'
import type { Scan } from './scan-state.ts'

const { follows, isNear } = flvRules

/** Processes a frame, in the order of the file. */
export function takeMark(scan: Scan, mark: Mark): void {
  const section = scan.sections.at(-1)
  const { mode } = scan.state
  if (mode === 'opening') takeOpening(scan, mark)
  else if (mode === 'waiting' || section === undefined) takeWaiting(scan, mark, section)
  else if (mode === 'doubt') takeInDoubt(scan, mark, section)
  else if (mark.kind === 'frame') takeFrame(scan, mark, section)
  else takeAudio(scan, mark, section)
}

/** Decides about the frames that still wait, as if the file ended here. */
export function settleMarks(scan: Scan): void {
  const { state, sections } = scan
  if (state.mode === 'opening') replay(scan, openSection(scan))
  if (state.mode === 'doubt') believeAudio(scan)
  const hadVideo = sections.some(({ video }) => video !== undefined)
  if (state.mode === 'waiting' && state.pending.length > 0 && !hadVideo && !state.sawFrame) {
    replay(scan, openSection(scan))
  }
}

/** Drops a frame that cannot be decoded, and the frames that waited before it. */
export function dropFrame({ state }: Scan): void {
  if (state.mode !== 'waiting') return
  state.pending = []
  state.sawFrame = true
}

function replay(scan: Scan, marks: Mark[]): void {
  for (const mark of marks) takeMark(scan, mark)
}

function takeWaiting(scan: Scan, mark: Mark, before: FlvSection | undefined): void {
  const { state } = scan
  const { pending } = state
  if (mark.kind === 'frame') {
    if (!mark.isKey && (state.needsKey || before?.video !== mark.config)) {
      dropFrame(scan)
      return
    }
    const hasAudio = pending.some(({ rawMs }) => isNear(rawMs, mark.rawMs))
    pending.push(mark)
    state.mode = 'opening'
    if (hasAudio) replay(scan, openSection(scan))
    return
  }
  const last = pending.at(-1)
  const isOther = last !== undefined && last.config !== mark.config
  if (last !== undefined && (isOther || !follows(mark.rawMs, last.rawMs))) pending.length = 0
  pending.push(mark)
  const first = pending[0] ?? mark
  const expectsVideo =
    before === undefined || before.video !== undefined || state.video.config !== undefined
  const isLong = mark.rawMs - first.rawMs >= AUDIO_WAIT_MS || pending.length >= MAX_PENDING
  if (isLong || !expectsVideo) replay(scan, openSection(scan))
}

function takeOpening(scan: Scan, mark: Mark): void {
  const { pending } = scan.state
  const frames = pending.filter(({ kind }) => kind === 'frame')
  const first = frames[0] ?? mark
  const last = frames.at(-1) ?? mark
  if (mark.kind === 'audio') {
    pending.push(mark)
    replay(scan, openSection(scan))
  } else if (mark.config !== last.config || !follows(mark.rawMs, last.rawMs)) {
    replay(scan, openSection(scan))
    takeMark(scan, mark)
  } else {
    pending.push(mark)
    const isLong = mark.rawMs - first.rawMs >= OPENING_MS || pending.length >= MAX_PENDING
    if (isLong) replay(scan, openSection(scan))
  }
}

function takeInDoubt(scan: Scan, mark: Mark, section: FlvSection): void {
  const { state } = scan
  const audioTracks = state.pending
  const last = audioTracks.at(-1) ?? mark
  const first = audioTracks[0] ?? mark
  if (mark.kind === 'frame') {
    const isOther = mark.config !== section.video
    const hasJumped = isOther || placeFrame(state, mark.rawMs) === undefined
    if (hasJumped && isNear(mark.rawMs, last.rawMs)) {
      closeSection(scan, first.position, isOther || state.isFresh ? 'key frame' : 'any frame')
      state.pending = audioTracks
    } else {
      believeAudio(scan)
    }
    takeMark(scan, mark)
    return
  }
  const isReturn = placeAudio(state, mark.rawMs) !== undefined
  if (isReturn || mark.config !== last.config || !follows(mark.rawMs, last.rawMs)) {
    believeAudio(scan)
    takeMark(scan, mark)
    return
  }
  audioTracks.push(mark)
  const isLong =
    mark.rawMs - first.rawMs >= MAX_FORWARD_SECONDS * 1000 || audioTracks.length >= MAX_PENDING
  if (isLong) believeAudio(scan)
}

/** The audio alone has jumped: it continues from its current end, on its own clock. */
function believeAudio(scan: Scan): void {
  const { state } = scan
  const audioTracks = state.pending
  const first = audioTracks[0]
  state.pending = []
  state.mode = 'running'
  if (first === undefined) return
  const endMs = state.audio.lastMs ?? state.video.lastMs ?? state.endMs
  const timescale = audioTimescale(scan, first)
  const stepMs = Number.isNaN(state.audioEndTicks) ? 0 : (first.ticks * 1000) / timescale
  const shiftMs = Math.round(endMs + stepMs) - first.rawMs
  setClock(scan, 'audio', { position: first.position, shiftMs })
  replay(scan, audioTracks)
}

function takeFrame(scan: Scan, mark: Mark, section: FlvSection): void {
  const { state } = scan
  if (section.video === undefined && !mark.isKey) return
  // Audio that is announced again begins with the key frame before it, not after it.
  const hasNewAudio = section.audio !== undefined && section.audio !== state.audio.config
  if (section.video !== mark.config || (mark.isKey && hasNewAudio)) {
    closeSection(scan, mark.position, 'key frame')
    takeMark(scan, mark)
    return
  }
  const shiftMs = placeFrame(state, mark.rawMs)
  if (shiftMs === undefined) {
    closeSection(scan, mark.position, state.isFresh ? 'key frame' : 'any frame')
    takeMark(scan, mark)
    return
  }
  setClock(scan, 'video', { position: mark.position, shiftMs })
  serveFrame(scan, mark)
}

function serveFrame(scan: Scan, mark: Mark): void {
  const { position, rawMs, compositionMs, isKey } = mark
  const { state } = scan
  const decodeMs = rawMs + state.video.shiftMs
  const startMs = decodeMs + compositionMs
  const stepMs = decodeMs - (state.video.lastMs ?? decodeMs)
  if (stepMs > 0 && stepMs <= MAX_FORWARD_SECONDS * 1000) state.frameMs = stepMs
  const known = scan.splitPoints.offsets.length
  const isFirst = state.firstSplitPointHoldsFrame
  if (isFirst) {
    state.firstSplitPointHoldsFrame = false
    if (isKey) state.lastKeySplitPointMs = startMs
  } else {
    const isAfter = startMs > state.lastSplitPointMs
    const flags = isAfter ? frameFlags(scan, startMs, isKey) : 0
    if (flags !== 0) addSplitPoint(scan, { position, startMs, flags, leadMs: compositionMs })
    else moveStartBack(scan, startMs)
  }
  if (isKey) {
    state.lastKeyMs = startMs
    noteSets(scan, mark, isFirst ? known - 1 : known)
  }
  state.counts.samples += 1
  state.isFresh = false
  state.video.lastMs = decodeMs
  state.latestFrameMs = Math.max(state.latestFrameMs, startMs)
  state.endMs = Math.max(state.endMs, startMs + (state.frameMs || DEFAULT_FRAME_SECONDS * 1000))
}

/** Records the sets of a key frame; the split point `number`, if there is one, begins with it. */
function noteSets(scan: Scan, { config, sets: own }: Mark, number: number): void {
  const { state, configs, sets, splitPoints } = scan
  const record = configs[config]
  if (record?.kind !== 'video' || record.codec === 'vp9') return
  if (state.setsInForce.config !== config) sets.inForce = []
  state.setsInForce.config = config
  if (own.length === 0 && sets.inForce.length === 0) return
  const { codec } = record
  const { sets: recorded } = recordedSets(codec, record.config)
  const splitPoint = number < splitPoints.offsets.length ? number : undefined
  takeFrameSets(sets, { codec, recorded, own }, splitPoint)
}

/** Flags of the split point at the frame; 0: it is none. */
function frameFlags({ state }: Scan, startMs: number, isKey: boolean): number {
  return flvRules.videoSplitFlags(isKey, {
    toSplitPoint: startMs - state.lastKeySplitPointMs,
    toAnySplitPoint: startMs - state.lastSplitPointMs,
    toKeyFrame: startMs - state.lastKeyMs,
    isShownLast: startMs > state.latestFrameMs,
  })
}

function takeAudio(scan: Scan, mark: Mark, section: FlvSection): void {
  const { state } = scan
  if (section.audio !== mark.config) {
    closeSection(scan, mark.position, 'any frame')
    takeMark(scan, mark)
    return
  }
  const shiftMs = placeAudio(state, mark.rawMs)
  if (shiftMs !== undefined) {
    setClock(scan, 'audio', { position: mark.position, shiftMs })
    serveAudio(scan, mark, section)
  } else if (section.video === undefined) {
    closeSection(scan, mark.position, 'any frame')
    takeMark(scan, mark)
  } else {
    state.mode = 'doubt'
    state.pending = [mark]
  }
}

function serveAudio(scan: Scan, mark: Mark, section: FlvSection): void {
  const { state } = scan
  const startMs = mark.rawMs + state.audio.shiftMs
  const timescale = audioTimescale(scan, mark)
  const flags = audioFlags(scan, startMs, section)
  if (flags !== undefined) {
    addSplitPoint(scan, { position: mark.position, startMs, flags, leadMs: NO_FRAME })
  }
  state.counts.samples += 1
  const startTicks = snapAudio(state.audioEndTicks, startMs, timescale)
  state.audioEndTicks = startTicks + mark.ticks
  state.audio.lastMs = startMs
  state.endMs = Math.max(state.endMs, Math.ceil((state.audioEndTicks * 1000) / timescale))
}

/** Flags of the split point at the audio; undefined without one, since video is near. */
function audioFlags({ state }: Scan, startMs: number, section: FlvSection): number | undefined {
  const distance = startMs - state.lastSplitPointMs
  return flvRules.audioSplitFlags({
    toVideo: section.video === undefined ? Infinity : startMs - state.latestFrameMs,
    toSplitPoint: distance,
    toAnySplitPoint: distance,
  })
}

function audioTimescale({ configs }: Scan, { config }: Mark): number {
  const record = configs[config]
  return record?.kind === 'audio' ? record.sampleRate : 1000
}
