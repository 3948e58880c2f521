// Takes the frames of an FLV recording one by one: which are served, on which clock, and where the cuts come.
import { CUT_KEY, CUT_MID } from '../media-index.ts'
import {
  LONE_PICTURE_MS,
  LONE_SOUND_MS,
  MAX_FORWARD_MS,
  MAX_PENDING,
  MID_STEP_MS,
  MID_WAIT_MS,
  MIN_CUT_MS,
  OPENING_MS,
  SOUND_CUT_MS,
  SOUND_WAIT_MS,
} from './flv-limits.ts'
import { NO_PICTURE } from './flv-source.ts'
import type { FlvSection } from './flv-source.ts'
import { follows, isNear, placePicture, placeSound, setClock, snapSound } from './scan-clock.ts'
import { addCut, closeSection, openSection } from './scan-section.ts'
import type { Mark } from './scan-progress.ts'
import type { Scan } from './scan-state.ts'

/** Takes a frame, in the order of the file. */
export function takeMark(scan: Scan, mark: Mark): void {
  const section = scan.sections.at(-1)
  const { mode } = scan.state
  if (mode === 'opening') takeOpening(scan, mark)
  else if (mode === 'waiting' || section === undefined) takeWaiting(scan, mark, section)
  else if (mode === 'doubt') takeInDoubt(scan, mark, section)
  else if (mark.kind === 'picture') takePicture(scan, mark, section)
  else takeSound(scan, mark, section)
}

/** Decides what still waits for a decision, as if nothing more came. */
export function settleMarks(scan: Scan): void {
  const { state, sections } = scan
  if (state.mode === 'opening') replay(scan, openSection(scan))
  if (state.mode === 'doubt') believeSound(scan)
  const hadPictures = sections.some(({ video }) => video !== undefined)
  if (state.mode === 'waiting' && state.pending.length > 0 && !hadPictures && !state.sawPicture) {
    replay(scan, openSection(scan))
  }
}

/** A picture that cannot be decoded, and what waited in front of it, are left out. */
export function dropPicture({ state }: Scan): void {
  if (state.mode !== 'waiting') return
  state.pending = []
  state.sawPicture = true
}

function replay(scan: Scan, marks: Mark[]): void {
  for (const mark of marks) takeMark(scan, mark)
}

function takeWaiting(scan: Scan, mark: Mark, before: FlvSection | undefined): void {
  const { state } = scan
  const { pending } = state
  if (mark.kind === 'picture') {
    if (!mark.isKey && (state.needsKey || before?.video !== mark.setUp)) {
      dropPicture(scan)
      return
    }
    const hasSound = pending.some(({ rawMs }) => isNear(rawMs, mark.rawMs))
    pending.push(mark)
    state.mode = 'opening'
    if (hasSound) replay(scan, openSection(scan))
    return
  }
  const last = pending.at(-1)
  const isOther = last !== undefined && last.setUp !== mark.setUp
  if (last !== undefined && (isOther || !follows(mark.rawMs, last.rawMs))) pending.length = 0
  pending.push(mark)
  const first = pending[0] ?? mark
  const expectsPictures =
    before === undefined || before.video !== undefined || state.video.setUp !== undefined
  const isLong = mark.rawMs - first.rawMs >= SOUND_WAIT_MS || pending.length >= MAX_PENDING
  if (isLong || !expectsPictures) replay(scan, openSection(scan))
}

function takeOpening(scan: Scan, mark: Mark): void {
  const { pending } = scan.state
  const pictures = pending.filter(({ kind }) => kind === 'picture')
  const first = pictures[0] ?? mark
  const last = pictures.at(-1) ?? mark
  if (mark.kind === 'sound') {
    pending.push(mark)
    replay(scan, openSection(scan))
  } else if (mark.setUp !== last.setUp || !follows(mark.rawMs, last.rawMs)) {
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
  const sounds = state.pending
  const last = sounds.at(-1) ?? mark
  const first = sounds[0] ?? mark
  if (mark.kind === 'picture') {
    const isOther = mark.setUp !== section.video
    const hasJumped = isOther || placePicture(state, mark.rawMs) === undefined
    if (hasJumped && isNear(mark.rawMs, last.rawMs)) {
      closeSection(scan, first.position, isOther || state.isFresh ? 'key frame' : 'any frame')
      state.pending = sounds
    } else {
      believeSound(scan)
    }
    takeMark(scan, mark)
    return
  }
  const isReturn = placeSound(state, mark.rawMs) !== undefined
  if (isReturn || mark.setUp !== last.setUp || !follows(mark.rawMs, last.rawMs)) {
    believeSound(scan)
    takeMark(scan, mark)
    return
  }
  sounds.push(mark)
  const isLong = mark.rawMs - first.rawMs >= MAX_FORWARD_MS || sounds.length >= MAX_PENDING
  if (isLong) believeSound(scan)
}

/** The sound alone has jumped: it goes on where it has come to, on a clock of its own. */
function believeSound(scan: Scan): void {
  const { state } = scan
  const sounds = state.pending
  const first = sounds[0]
  state.pending = []
  state.mode = 'running'
  if (first === undefined) return
  const endMs = state.sound.lastMs ?? state.video.lastMs ?? state.endMs
  const timescale = soundTimescale(scan, first)
  const stepMs = Number.isNaN(state.soundEndTicks) ? 0 : (first.ticks * 1000) / timescale
  const shiftMs = Math.round(endMs + stepMs) - first.rawMs
  setClock(scan, 'sound', { position: first.position, shiftMs })
  replay(scan, sounds)
}

function takePicture(scan: Scan, mark: Mark, section: FlvSection): void {
  const { state } = scan
  if (section.video === undefined && !mark.isKey) return
  // Sound that is announced anew begins with the key frame in front of it, not behind that.
  const hasNewSound = section.sound !== undefined && section.sound !== state.sound.setUp
  if (section.video !== mark.setUp || (mark.isKey && hasNewSound)) {
    closeSection(scan, mark.position, 'key frame')
    takeMark(scan, mark)
    return
  }
  const shiftMs = placePicture(state, mark.rawMs)
  if (shiftMs === undefined) {
    closeSection(scan, mark.position, state.isFresh ? 'key frame' : 'any frame')
    takeMark(scan, mark)
    return
  }
  setClock(scan, 'video', { position: mark.position, shiftMs })
  servePicture(scan, mark)
}

function servePicture(scan: Scan, { position, rawMs, compositionMs, isKey }: Mark): void {
  const { state } = scan
  const decodeMs = rawMs + state.video.shiftMs
  const startMs = decodeMs + compositionMs
  const stepMs = decodeMs - (state.video.lastMs ?? decodeMs)
  if (stepMs > 0 && stepMs <= MAX_FORWARD_MS) state.frameMs = stepMs
  if (state.firstCutHoldsPicture) {
    state.firstCutHoldsPicture = false
    if (isKey) state.lastKeyCutMs = startMs
  } else if (startMs > state.lastCutMs) {
    const flags = pictureFlags(scan, startMs, isKey)
    if (flags !== 0) addCut(scan, { position, startMs, flags, leadMs: compositionMs })
  }
  if (isKey) state.lastKeyMs = startMs
  state.isFresh = false
  state.video.lastMs = decodeMs
  state.latestPictureMs = Math.max(state.latestPictureMs, startMs)
  state.endMs = Math.max(state.endMs, startMs + (state.frameMs || LONE_PICTURE_MS))
}

/** What kind of cut the picture makes; 0 for none. */
function pictureFlags({ state }: Scan, startMs: number, isKey: boolean): number {
  if (isKey) return startMs - state.lastKeyCutMs >= MIN_CUT_MS ? CUT_KEY : 0
  const isMid =
    startMs - state.lastKeyMs >= MID_WAIT_MS &&
    startMs - state.lastCutMs >= MID_STEP_MS &&
    startMs > state.latestPictureMs
  return isMid ? CUT_MID : 0
}

function takeSound(scan: Scan, mark: Mark, section: FlvSection): void {
  const { state } = scan
  if (section.sound !== mark.setUp) {
    closeSection(scan, mark.position, 'any frame')
    takeMark(scan, mark)
    return
  }
  const shiftMs = placeSound(state, mark.rawMs)
  if (shiftMs !== undefined) {
    setClock(scan, 'sound', { position: mark.position, shiftMs })
    serveSound(scan, mark, section)
  } else if (section.video === undefined) {
    closeSection(scan, mark.position, 'any frame')
    takeMark(scan, mark)
  } else {
    state.mode = 'doubt'
    state.pending = [mark]
  }
}

function serveSound(scan: Scan, mark: Mark, section: FlvSection): void {
  const { state } = scan
  const startMs = mark.rawMs + state.sound.shiftMs
  const timescale = soundTimescale(scan, mark)
  const flags = soundFlags(scan, startMs, section)
  if (flags !== undefined) {
    addCut(scan, { position: mark.position, startMs, flags, leadMs: NO_PICTURE })
  }
  const startTicks = snapSound(state.soundEndTicks, startMs, timescale)
  state.soundEndTicks = startTicks + mark.ticks
  state.sound.lastMs = startMs
  state.endMs = Math.max(state.endMs, Math.ceil((state.soundEndTicks * 1000) / timescale))
}

/** Flags of the cut that is made at sound; undefined where there is none: pictures are near. */
function soundFlags({ state }: Scan, startMs: number, section: FlvSection): number | undefined {
  const sinceCutMs = startMs - state.lastCutMs
  const silentMs = section.video === undefined ? Infinity : startMs - state.latestPictureMs
  if (silentMs >= LONE_SOUND_MS) return sinceCutMs >= SOUND_CUT_MS ? 0 : undefined
  return silentMs >= MID_WAIT_MS && sinceCutMs >= MID_STEP_MS ? CUT_MID : undefined
}

function soundTimescale({ setUps }: Scan, { setUp }: Mark): number {
  const record = setUps[setUp]
  return record?.kind === 'sound' ? record.sampleRate : 1000
}
