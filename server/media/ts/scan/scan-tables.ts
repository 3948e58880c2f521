// Processes the packets of PAT and PMT, and changes of the program.
import { continuityCounter, hasPayload, packetPid } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { parsePat, parsePmt, PAT_PID } from '../packets/program-table.ts'
import { finishFrame, takeWaiting } from './scan-frame.ts'
import { createGate, isVerbatim, watchProgram } from './scan-state.ts'
import type { ScanState } from './scan-state.ts'
import { followStreams, isSameService } from './served-program.ts'
import type { ServedStreams } from './served-program.ts'
import { createSectionGatherer, gatherSections } from '../packets/table-section.ts'

/** Processes a packet of the PID of the PAT or the PMT. */
export function takeTablePacket(state: ScanState, packet: PacketView): void {
  if (!hasPayload(packet.header)) return
  const counter = continuityCounter(packet.header)
  if (packetPid(packet.header) === PAT_PID) {
    state.counters = (state.counters & 0x0f) | (counter << 4)
    for (const section of gatherSections(state.patGatherer, packet)) takePat(state, section)
    return
  }
  state.counters = (state.counters & 0xf0) | counter
  for (const section of gatherSections(state.pmtGatherer, packet)) {
    takePmt(state, section, packet.position)
  }
}

function takePat(state: ScanState, section: Uint8Array): void {
  const { program } = state
  if (Buffer.compare(section, program.pat) === 0) return
  const entries = parsePat(section)?.filter(({ programNumber }) => programNumber !== 0)
  const first = entries?.[0]
  if (entries === undefined || first === undefined || first.pid === PAT_PID) return
  const { programNumber } = program.map
  const same = entries.find((entry) => entry.programNumber === programNumber)
  const pmtPid = (same ?? first).pid
  if (pmtPid !== program.pmtPid) state.pmtGatherer = createSectionGatherer()
  const map =
    same === undefined ? { ...program.map, programNumber: first.programNumber } : program.map
  state.program = { ...program, pat: section, pmtPid, map }
  watchProgram(state)
  checkVerbatim(state)
}

function takePmt(state: ScanState, section: Uint8Array, position: number): void {
  const { program, served } = state
  if (Buffer.compare(section, program.pmt) === 0) return
  const map = parsePmt(section)
  if (map === undefined || map.programNumber !== program.map.programNumber) return
  const streams = followStreams(map, state.options)
  // Video that leaves the table for a while comes back; without video from the start, audio is
  // served.
  const hasVideo = streams?.video !== undefined
  if (streams === undefined || hasVideo !== (served.video !== undefined)) return
  state.program = { ...program, pmt: section, map }
  if (isSameService(streams, served)) {
    checkVerbatim(state)
    return
  }
  finishFrame(state)
  takeWaiting(state)
  changeStreams(state, streams, position)
}

function changeStreams(state: ScanState, streams: ServedStreams, position: number): void {
  const { video, audio } = state.served
  state.served = streams
  if (streams.audio?.pid !== audio?.pid || streams.audio?.codec !== audio?.codec) {
    state.audio.isOpen = false
    state.audio.track = undefined
  }
  if (
    video !== undefined &&
    streams.video?.pid === video.pid &&
    streams.video.codec === video.codec
  )
    // The video continues: none of it is lost before the next key frame.
    state.wantsSection = true
  else state.gate ??= createGate(state, 'program', position)
  watchProgram(state)
}

function checkVerbatim(state: ScanState): void {
  const section = state.sections.at(-1)
  if (section === undefined || isVerbatim(state)) return
  // Bytes before the last split point may have been served already.
  section.ownFromSplitPoint ??= state.splitPoints.offsets.length - 1
}
