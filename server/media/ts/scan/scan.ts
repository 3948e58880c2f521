// Scans the packets of a file for split points and discontinuities, and continues when the file
// grows. Each packet passes from here to the machine of its content, and what that returns to those
// after it: program, frames and audio marks, clock, sections, split points.
import { readCached } from '../../../storage/recordings/read-ahead.ts'
import { hasPayload, isCorrupt, isScrambled, isUnitStart, packetPid } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { ALL, SCAN_CHUNK_BYTES, STARTS, walkPackets } from '../packets/packet-walk.ts'
import type { TsFile } from '../packets/packet-walk.ts'
import { isRepeated } from '../packets/pes.ts'
import { PAT_PID } from '../packets/program-table.ts'
import { changesConfig, dropTrack, gatherAudio, openAudio, readTrack } from './audio-marks.ts'
import { gatherFrame, openFrame } from './frames.ts'
import { finishFrame, noteTrack, placeAudio, placeFrame, placeWaiting } from './placement.ts'
import { gatherTables, serveStreams, takePat, takePmt } from './program.ts'
import { createScanState } from './scan-store.ts'
import { addHole, checkTables, createGate, noteFlaw } from './sections.ts'
import { formOf } from './served-program.ts'
import type { AudioStream, ServedStreams, VideoStream } from './served-program.ts'
import { extendCarry } from './split-points.ts'
import { watchProgram, watchStream } from './watch.ts'
import type { ScanOptions, ScanRun, ScanState } from './scan-state.ts'

/** What is served if nothing more comes. */
export interface Scan {
  state: ScanState
  /** End of the last served packet. */
  endOffset: number
  /** End of the last whole packet. */
  end: number
}

export function beginScan(options: ScanOptions): ScanRun {
  return { state: createScanState(options), position: options.start }
}

/**
 * Continues to the end of the file at the time it was opened. The state depends only on the bytes
 * before the position. Throws UnplayableError at a bound.
 */
export async function continueScan(
  tsFile: TsFile,
  run: ScanRun,
  signal: AbortSignal,
): Promise<void> {
  run.position = await walk(tsFile, run, { signal, end: 'open' })
}

/** Ends a copy of the scan at the current end of the file, with incomplete packets. */
export async function endScan(tsFile: TsFile, run: ScanRun, signal: AbortSignal): Promise<Scan> {
  const copy = { ...run, state: structuredClone(run.state) }
  const { state } = copy
  // Sync may be lost, with too few bytes after it to find it.
  const isWhole = tsFile.file.stat.sizeBytes - run.position < tsFile.layout.packetBytes
  const end = isWhole ? run.position : await walk(tsFile, copy, { signal })
  finishFrame(state)
  placeWaiting(state)
  // Frames that wait for a key frame at the end cannot be decoded.
  return { state, endOffset: state.sections.gate?.from ?? end, end }
}

async function walk(
  tsFile: TsFile,
  { state, position }: ScanRun,
  options: { signal: AbortSignal; end?: 'open' },
): Promise<number> {
  const visitor = {
    interest: state.watch.interest,
    counters: state.watch.lastCounters,
    visit: (packet: PacketView): 'continue' => {
      takePacket(state, packet)
      return 'continue'
    },
    lost(from: number, to: number) {
      addHole(state.sections, from, to)
      noteFlaw(state.sections, { code: 'corrupt', lengthBytes: to - from, offsetBytes: from })
    },
  }
  const to = tsFile.file.stat.sizeBytes
  const range = { from: position, to, chunkBytes: SCAN_CHUNK_BYTES, ...options }
  return walkPackets({ ...tsFile, file: readCached(tsFile.file) }, visitor, range)
}

function takePacket(state: ScanState, packet: PacketView): void {
  if (isCorrupt(packet.header)) return
  const { program, served } = state.program
  const pid = packetPid(packet.header)
  if (pid === PAT_PID || pid === program.pmtPid) takeTables(state, packet)
  else if (pid === served.video?.pid) takeVideo(state, packet, served.video)
  else if (pid === served.audio?.pid) takeAudio(state, packet, served.audio)
}

function takeTables(state: ScanState, packet: PacketView): void {
  const { options, program, sections, watch } = state
  const isPat = packetPid(packet.header) === PAT_PID
  for (const section of gatherTables(program, packet)) {
    const change = isPat ? takePat(program, section) : takePmt(program, section, options)
    if (change?.kind === 'packets') watchProgram(watch, program)
    if (change?.kind === 'streams') changeStreams(state, change.streams, packet.position)
    else if (change !== undefined) checkTables(sections, program)
  }
}

function changeStreams(state: ScanState, streams: ServedStreams, position: number): void {
  const { audio, program, sections, watch } = state
  finishFrame(state)
  placeWaiting(state)
  const { hasNewVideo, hasNewAudio } = serveStreams(program, streams)
  if (hasNewAudio) dropTrack(audio)
  if (hasNewVideo) sections.gate ??= createGate('program', position, program.counters)
  // The video continues: none of it is lost before the next key frame.
  else sections.wantsSection = true
  watchProgram(watch, program)
}

function takeVideo(state: ScanState, packet: PacketView, video: VideoStream): void {
  const { counts, frame, program, watch } = state
  if (isRepeated(frame.pes, packet)) return
  if (isUnitStart(packet.header)) {
    finishFrame(state)
    if (isScrambled(packet.header)) {
      counts.scrambled++
      return
    }
    openFrame(frame, packet, program.counters)
    watchStream(watch, video, ALL)
    watchStream(watch, program.served.audio, ALL)
  }
  const gathered = gatherFrame(frame, packet, video.codec)
  if (gathered === 'invalid') watchStream(watch, video, STARTS)
  else if (gathered !== undefined) placeFrame(state, gathered)
}

function takeAudio(state: ScanState, packet: PacketView, stream: AudioStream): void {
  const { audio, counts, watch } = state
  if (isUnitStart(packet.header)) {
    endCarry(state)
    openAudio(audio, packet)
    if (!audio.isOpen) counts.scrambled++
  } else if (hasPayload(packet.header)) {
    carry(state, packet.position + state.options.packetBytes)
  }
  if (audio.isOpen) {
    const stamp = gatherAudio(audio, packet)
    if (stamp !== undefined) {
      noteChange(state)
      placeAudio(state, stamp)
    }
    if (audio.isMarked) {
      readTrack(audio, stream)
      noteTrack(state)
    }
  }
  watchStream(watch, stream, audio.isOpen || isCarrying(state) ? ALL : STARTS)
}

/** A change of AAC needs another init segment in fMP4: a new section begins. */
function noteChange({ audio, options, program, sections }: ScanState): void {
  if (formOf(options.served) === 'verbatim' || !changesConfig(audio)) return
  if (program.served.video !== undefined) sections.wantsSection = true
  else sections.gate ??= createGate('program', audio.pes.position, program.counters)
}

/**
 * Extends the audio that began before a split point, or before a frame that may become one, to
 * `end`.
 */
function carry({ clock: { jump }, frame, sections }: ScanState, end: number): void {
  if (frame.carryIsOpen) frame.carryBytes = end - frame.pes.position
  if (jump?.entry.carryIsOpen) jump.entry.carryBytes = end - jump.entry.position
  extendCarry(sections.points, end)
}

/** Another PES packet of audio begins. */
function endCarry({ clock: { jump }, frame, sections }: ScanState): void {
  frame.carryIsOpen = false
  if (jump !== undefined) jump.entry.carryIsOpen = false
  sections.points.splitCarryIsOpen = false
}

function isCarrying({ clock: { jump }, frame, sections }: ScanState): boolean {
  return sections.points.splitCarryIsOpen || frame.carryIsOpen || jump?.entry.carryIsOpen === true
}
