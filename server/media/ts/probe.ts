// Finds out what an MPEG-TS file is before it is scanned: its packets, its program, and the streams to serve.
import { AppError, isAppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { beginsWithAac, findAudioFrame } from '../codec/audio-frame.ts'
import {
  findLayout,
  LAYOUT_SEARCH_BYTES,
  MAX_PACKET_BYTES,
  packetPid,
  PID_COUNT,
} from './packet.ts'
import type { PacketView } from './packet.ts'
import { ALL, SMALL_CHUNK_BYTES, walkPackets } from './packet-walk.ts'
import type { TsFile } from './packet-walk.ts'
import { readPes } from './pes-read.ts'
import { parsePat, parsePmt, PAT_PID } from './program-table.ts'
import type { ProgramEntry } from './program-table.ts'
import { chooseStreams } from './served-program.ts'
import type { FrameTest, Program, ServedStreams } from './served-program.ts'
import { isMpegAudio, isUnnamed } from './stream-kind.ts'
import { createSectionGatherer, gatherSections } from './table-section.ts'
import type { SectionGatherer } from './table-section.ts'

/** How far into a file its first program table may lie, and how long others are waited for behind it. */
const TABLE_SEARCH_BYTES = 32 * 1024 * 1024
const MORE_TABLES_BYTES = 2 * 1024 * 1024
/** How far into a file a stream's first frame is looked for. */
const FRAME_SEARCH_BYTES = 32 * 1024 * 1024
const FRAME_BYTES = 8 * 1024
const MAX_PROBED_STREAMS = 8
/** Behind the first packet, what findLayout looks at before it is sure. */
const SETTLED_LAYOUT_BYTES = 6 * MAX_PACKET_BYTES

export interface Probe {
  tsFile: TsFile
  program: Program
  served: ServedStreams
  /** What the first frames of PIDs are whose stream type leaves it open. */
  frames: Map<number, 'aac' | 'mp3'>
  /** Whether all of this stays, whatever is written behind the file's end. */
  isSettled: boolean
}

/** Reads the file's beginning. Throws AppError `unplayable` that says why it cannot be served. */
export async function probeFile(file: OpenFile, signal: AbortSignal): Promise<Probe> {
  const headBytes = LAYOUT_SEARCH_BYTES + 5 * MAX_PACKET_BYTES
  const head = new Uint8Array(Math.min(headBytes, file.stat.sizeBytes))
  const length = await file.read(head, 0)
  const tsFile = { file, layout: findLayout(head.subarray(0, length)) }
  const { programs, isSettled } = await findPrograms(tsFile, signal)
  if (programs.length === 0) {
    throw new AppError('unplayable', 'the file has no program table (PAT and PMT)')
  }
  const sniffed = await sniffFrames(tsFile, programs)
  return {
    tsFile,
    frames: sniffed.frames,
    isSettled:
      isSettled && sniffed.isSettled && length - tsFile.layout.start >= SETTLED_LAYOUT_BYTES,
    ...chooseProgram(programs, (pid) => sniffed.frames.get(pid)),
  }
}

/** The first program with pictures that browsers play, else the first with sound. */
function chooseProgram(
  programs: Program[],
  framesOf: FrameTest,
): { program: Program; served: ServedStreams } {
  let withSound: { program: Program; served: ServedStreams } | undefined
  let refusal: AppError | undefined
  for (const program of programs) {
    try {
      const served = chooseStreams(program.map, framesOf)
      if (served.video !== undefined) return { program, served }
      withSound ??= { program, served }
    } catch (error) {
      if (!isAppError(error, 'unplayable')) throw error
      refusal ??= error
    }
  }
  if (withSound !== undefined) return withSound
  throw refusal ?? new AppError('unplayable', 'the file has no video or sound')
}

interface TableSearch {
  interest: Uint8Array
  pat: Uint8Array
  entries: ProgramEntry[]
  gatherers: Map<number, SectionGatherer>
  programs: Program[]
  searchEnd: number
}

async function findPrograms(
  tsFile: TsFile,
  signal: AbortSignal,
): Promise<{ programs: Program[]; isSettled: boolean }> {
  const search: TableSearch = {
    interest: new Uint8Array(PID_COUNT),
    pat: new Uint8Array(0),
    entries: [],
    gatherers: new Map(),
    programs: [],
    searchEnd: Infinity,
  }
  search.interest[PAT_PID] = ALL
  const from = tsFile.layout.start
  const to = from + TABLE_SEARCH_BYTES
  let isSettled = to <= tsFile.file.stat.sizeBytes
  function visit(packet: PacketView): 'go on' | 'stop' {
    const next = searchTables(search, packet)
    if (next === 'stop') isSettled = true
    return next
  }
  await walkPackets(
    tsFile,
    { interest: search.interest, visit },
    { from, to, chunkBytes: SMALL_CHUNK_BYTES, end: 'open', signal },
  )
  return { programs: search.programs, isSettled }
}

function searchTables(search: TableSearch, packet: PacketView): 'go on' | 'stop' {
  const pid = packetPid(packet.header)
  const gatherer = search.gatherers.get(pid) ?? createSectionGatherer()
  search.gatherers.set(pid, gatherer)
  for (const section of gatherSections(gatherer, packet)) {
    if (pid === PAT_PID) takePat(search, section)
    else takePmt(search, section, pid)
  }
  if (search.programs.length === 0) return 'go on'
  search.searchEnd = Math.min(search.searchEnd, packet.position + MORE_TABLES_BYTES)
  const isComplete = search.programs.length >= search.entries.length
  return isComplete || packet.position > search.searchEnd ? 'stop' : 'go on'
}

function takePat(search: TableSearch, section: Uint8Array): void {
  const entries = parsePat(section)
  // Tables of the first PAT count; what a later one changes, the scan sees.
  if (entries === undefined || search.entries.length > 0) return
  search.pat = section
  search.entries = entries.filter(
    ({ programNumber, pid }) => programNumber !== 0 && pid !== PAT_PID,
  )
  for (const { pid } of search.entries) search.interest[pid] = ALL
}

function takePmt(search: TableSearch, section: Uint8Array, pid: number): void {
  const map = parsePmt(section)
  const number = map?.programNumber
  const isListed = search.entries.some(
    (entry) => entry.programNumber === number && entry.pid === pid,
  )
  if (map === undefined || !isListed) return
  if (search.programs.some((known) => known.map.programNumber === number)) return
  search.programs.push({ pat: search.pat, pmt: section, pmtPid: pid, map })
}

/** What the frames of streams are whose type leaves it open. */
async function sniffFrames(
  tsFile: TsFile,
  programs: Program[],
): Promise<Pick<Probe, 'frames' | 'isSettled'>> {
  let isSettled = true
  const frames = new Map<number, 'aac' | 'mp3'>()
  const { start } = tsFile.layout
  const streams = programs.flatMap(({ map }) => map.streams)
  const open = streams.filter((stream) => isMpegAudio(stream) || isUnnamed(stream))
  for (const stream of open.slice(0, MAX_PROBED_STREAMS)) {
    const range = { from: start, to: start + FRAME_SEARCH_BYTES, limitBytes: FRAME_BYTES }
    const pes = await readPes(tsFile, { pid: stream.pid, ...range })
    const { payload } = pes
    isSettled &&= pes.isSettled
    if (payload === undefined) continue
    if (isUnnamed(stream)) {
      if (beginsWithAac(payload)) frames.set(stream.pid, 'aac')
    } else if (isMp3(payload)) frames.set(stream.pid, 'mp3')
  }
  return { frames, isSettled }
}

function isMp3(payload: Uint8Array): boolean {
  const frame = findAudioFrame('mpeg', payload)
  return frame !== undefined && frame !== 'other'
}
