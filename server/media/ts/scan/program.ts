// The program of a recording along the scan: gathers the sections of PAT and PMT from packets, and
// decides what each changes.
import { continuityCounter, hasPayload, packetPid } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { parsePat, parsePmt, PAT_PID } from '../packets/program-table.ts'
import { createSectionGatherer, gatherSections } from '../packets/table-section.ts'
import { followStreams, isSameService } from './served-program.ts'
import type { KnownAudioTracks, Program, ServedStreams } from './served-program.ts'
import type { ProgramState } from './scan-state.ts'

/** What a table changed; `streams`: others are served, once `serveStreams` is called. */
export type ProgramChange =
  | { kind: 'packets' }
  | { kind: 'tables' }
  | { kind: 'streams'; streams: ServedStreams }

export function createProgram(program: Program, served: ServedStreams): ProgramState {
  return {
    program,
    served,
    patGatherer: createSectionGatherer(),
    pmtGatherer: createSectionGatherer(),
    counters: 0xff,
  }
}

/** Processes a packet of the PID of the PAT or the PMT; returns the sections that end in it. */
export function gatherTables(state: ProgramState, packet: PacketView): Uint8Array[] {
  if (!hasPayload(packet.header)) return []
  const counter = continuityCounter(packet.header)
  const isPat = packetPid(packet.header) === PAT_PID
  state.counters = isPat
    ? (state.counters & 0x0f) | (counter << 4)
    : (state.counters & 0xf0) | counter
  return gatherSections(isPat ? state.patGatherer : state.pmtGatherer, packet)
}

/** Processes a section of the PAT. */
export function takePat(state: ProgramState, section: Uint8Array): ProgramChange | undefined {
  const { program } = state
  if (Buffer.compare(section, program.pat) === 0) return undefined
  const entries = parsePat(section)?.filter(({ programNumber }) => programNumber !== 0)
  const first = entries?.[0]
  if (entries === undefined || first === undefined || first.pid === PAT_PID) return undefined
  const { programNumber } = program.map
  const same = entries.find((entry) => entry.programNumber === programNumber)
  const pmtPid = (same ?? first).pid
  if (pmtPid !== program.pmtPid) state.pmtGatherer = createSectionGatherer()
  const map =
    same === undefined ? { ...program.map, programNumber: first.programNumber } : program.map
  state.program = { ...program, pat: section, pmtPid, map }
  return { kind: 'packets' }
}

/** Processes a section of the PMT. `chosen`: what the probe chose to serve. */
export function takePmt(
  state: ProgramState,
  section: Uint8Array,
  chosen: { served: ServedStreams; audioTracks: KnownAudioTracks },
): ProgramChange | undefined {
  const { program, served } = state
  if (Buffer.compare(section, program.pmt) === 0) return undefined
  const map = parsePmt(section)
  if (map === undefined || map.programNumber !== program.map.programNumber) return undefined
  const streams = followStreams(map, chosen)
  // Video that leaves the table for a while comes back; without video from the start, audio is
  // served.
  const hasVideo = streams?.video !== undefined
  if (streams === undefined || hasVideo !== (served.video !== undefined)) return undefined
  state.program = { ...program, pmt: section, map }
  return isSameService(streams, served) ? { kind: 'tables' } : { kind: 'streams', streams }
}

/** Serves other streams. Returns which of them another stream replaces. */
export function serveStreams(
  state: ProgramState,
  streams: ServedStreams,
): { hasNewVideo: boolean; hasNewAudio: boolean } {
  const { video, audio } = state.served
  state.served = streams
  return {
    hasNewVideo: video === undefined || !isSameStream(streams.video, video),
    hasNewAudio: !isSameStream(streams.audio, audio),
  }
}

interface Stream {
  pid: number
  codec: string
}

function isSameStream(one: Stream | undefined, other: Stream | undefined): boolean {
  return one?.pid === other?.pid && one?.codec === other?.codec
}
