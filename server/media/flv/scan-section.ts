// Where sections of an FLV recording begin and end, and where its cuts are.
import { AppError } from '../../errors.ts'
import { CUT_BREAK, CUT_KEY } from '../media-index.ts'
import { MAX_CUTS, MAX_PAUSE_AT_HEADER_MS, MAX_SECTIONS, MID_WAIT_MS } from './flv-limits.ts'
import { NO_PICTURE } from './flv-source.ts'
import { isNear, placePicture, placeSound, setClock } from './scan-clock.ts'
import type { Mark, ScanState } from './scan-progress.ts'
import { noteFlaw } from './scan-state.ts'
import type { Scan } from './scan-state.ts'

/** A place where a segment may begin. */
export interface Cut {
  position: number
  startMs: number
  flags: number
  leadMs: number
}

export function addCut({ state, cuts }: Scan, cut: Cut): void {
  if (cuts.offsets.length >= MAX_CUTS) throw new AppError('unplayable', 'the recording is too long')
  cuts.offsets.push(cut.position)
  cuts.startMs.push(cut.startMs)
  cuts.flags.push(cut.flags)
  cuts.leadMs.push(cut.leadMs)
  cuts.soundEnds.push(state.soundEndTicks)
  state.lastCutMs = cut.startMs
  if ((cut.flags & CUT_KEY) !== 0) state.lastKeyCutMs = cut.startMs
}

/** Ends the section in front of `position`, and waits for what the next one can begin with. */
export function closeSection(scan: Scan, position: number, begin: 'key frame' | 'any frame'): void {
  const { state, sections } = scan
  const section = sections.at(-1)
  if (section !== undefined && state.mode !== 'waiting') section.endOffset = position
  state.mode = 'waiting'
  state.pending = []
  state.needsKey = begin === 'key frame'
  state.sawPicture = false
}

/**
 * Begins a section with the frames that waited, and answers them: they are served next. Its clock goes on from the
 * section before where the time stamps do; else its first frame is shown when the section before ends.
 */
export function openSection(scan: Scan): Mark[] {
  const { state, sections } = scan
  if (sections.length >= MAX_SECTIONS) {
    throw new AppError('unplayable', `the recording breaks more than ${MAX_SECTIONS} times`)
  }
  const marks = withoutFarSound(state.pending)
  const picture = marks.find(({ kind }) => kind === 'picture')
  const sound = marks.find(({ kind }) => kind === 'sound')
  const first = marks[0]
  state.pending = []
  state.mode = 'running'
  if (first === undefined) return []
  const isContinued = goesOn(scan, picture ?? first)
  const startMs = isContinued ? continueClock(state, marks) : beginClock(scan, marks, picture)
  if (!isContinued) noteBreak(scan, first.position, startMs)
  state.soundEndTicks = NaN
  sections.push({
    firstCut: scan.cuts.offsets.length,
    endOffset: first.position,
    ...(picture && { video: picture.setUp }),
    ...(sound && { sound: sound.setUp }),
  })
  const pictureMs = picture && picture.rawMs + picture.compositionMs + state.video.shiftMs
  const isEarly = pictureMs !== undefined && pictureMs - startMs < MID_WAIT_MS
  const isKey = picture?.isKey === true && isEarly
  const flags = (sections.length > 1 ? CUT_BREAK : 0) | (isKey ? CUT_KEY : 0)
  addCut(scan, { position: first.position, startMs, flags, leadMs: NO_PICTURE })
  state.firstCutHoldsPicture = isEarly
  state.latestPictureMs = startMs
  state.lastKeyMs = startMs
  state.isNewFile = false
  state.isFresh = false
  return marks
}

function noteBreak(scan: Scan, offsetBytes: number, startMs: number): void {
  const seconds = startMs / 1000
  if (scan.state.sawPicture) {
    const message = 'pictures that cannot be decoded without their key frame were left out'
    noteFlaw(scan, { kind: 'pictures-left-out', message, offsetBytes, seconds })
  } else if (scan.sections.length > 0) {
    noteFlaw(scan, { kind: 'gap', message: 'the time stamps begin anew', offsetBytes, seconds })
  }
}

/** Sound in front of the first picture belongs to it only where it leads up to it. */
function withoutFarSound(marks: Mark[]): Mark[] {
  const at = marks.findIndex(({ kind }) => kind === 'picture')
  const picture = marks[at]
  const before = marks[at - 1]
  if (picture === undefined || before === undefined) return marks
  return isNear(before.rawMs, picture.rawMs) ? marks : marks.slice(at)
}

function goesOn({ state, sections }: Scan, lead: Mark): boolean {
  if (sections.length === 0 || state.sawPicture) return false
  const isPicture = lead.kind === 'picture'
  const track = isPicture ? state.video : state.sound
  const shiftMs = isPicture ? placePicture(state, lead.rawMs) : placeSound(state, lead.rawMs)
  if (shiftMs !== track.shiftMs) return false
  // Pictures that come where there was sound alone stand beside that.
  const lastMs = track.lastMs ?? state.sound.lastMs
  if (lastMs === undefined) return false
  const stepMs = lead.rawMs + shiftMs - lastMs
  if (state.isNewFile) return stepMs >= 0 && stepMs <= MAX_PAUSE_AT_HEADER_MS
  return track.lastMs !== undefined || isNear(stepMs, 0)
}

function continueClock(state: ScanState, marks: Mark[]): number {
  const times = marks.map(({ kind, rawMs, compositionMs }) => {
    return rawMs + compositionMs + (kind === 'picture' ? state.video : state.sound).shiftMs
  })
  const earliest = times.reduce((a, b) => Math.min(a, b), Infinity)
  return Math.max(earliest, state.lastCutMs + 1)
}

/** Sets both clocks so that what is shown first is shown where the recording has come to. */
function beginClock(scan: Scan, marks: Mark[], picture: Mark | undefined): number {
  const { state } = scan
  const startMs = Math.max(state.endMs, state.lastCutMs + 1)
  const sounds = marks.filter(({ kind }) => kind === 'sound')
  const near = sounds.filter(({ rawMs }) => isNear(rawMs, picture?.rawMs ?? rawMs))
  const pictures = marks.filter(({ kind }) => kind === 'picture')
  const origin = [...near, ...pictures].reduce(
    (earliest, { rawMs, compositionMs }) => Math.min(earliest, rawMs + compositionMs),
    Infinity,
  )
  const position = marks[0]?.position ?? 0
  const shiftMs = startMs - origin
  setClock(scan, 'video', { position, shiftMs })
  state.video.lastMs = undefined
  const far = sounds[0]
  if (near.length > 0 || far === undefined) {
    const isUnheard = far === undefined && state.sound.lastMs !== undefined
    if (isUnheard) return startMs
    setClock(scan, 'sound', { position, shiftMs })
    state.sound.lastMs = undefined
  } else if (placeSound(state, far.rawMs) !== state.sound.shiftMs) {
    setClock(scan, 'sound', { position, shiftMs: startMs - far.rawMs })
    state.sound.lastMs = undefined
  }
  return startMs
}
