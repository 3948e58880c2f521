// Probes an MPEG-TS file before the scan: its packets, its program, the first frames of audio that
// its tables do not identify, and the streams to serve.
import { UnplayableError } from '../../../base/errors.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import {
  findLayout,
  isUnitStart,
  LAYOUT_SEARCH_BYTES,
  MAX_PACKET_BYTES,
  packetPid,
  PID_COUNT,
} from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { ALL, SMALL_CHUNK_BYTES, walkPackets } from '../packets/packet-walk.ts'
import type { TsFile } from '../packets/packet-walk.ts'
import { parsePat, parsePmt, PAT_PID } from '../packets/program-table.ts'
import type { ProgramEntry, StreamEntry } from '../packets/program-table.ts'
import { chooseStreams } from './served-program.ts'
import type { KnownAudioTracks, Program, ServedStreams } from './served-program.ts'
import { createSectionGatherer, gatherSections } from '../packets/table-section.ts'
import type { SectionGatherer } from '../packets/table-section.ts'
import type { AudioConfig } from '../packets/audio-frame.ts'
import { readAudioConfig } from '../packets/audio-config.ts'
import { ElementaryStream } from '../packets/elementary-stream.ts'
import { isUnnamed, listedAudio } from '../packets/stream-kind.ts'

/** How far into a file its first program table may be, and how long others are awaited after it. */
const TABLE_SEARCH_BYTES = 32 * 1024 * 1024
const MORE_TABLES_BYTES = 2 * 1024 * 1024
/** Bytes after the first packet that findLayout needs. */
const SETTLED_LAYOUT_BYTES = 6 * MAX_PACKET_BYTES

export interface Probe {
  tsFile: TsFile
  program: Program
  served: ServedStreams
  /** The first frames of PIDs, if the tables do not decide what is served. */
  audioTracks: KnownAudioTracks
  /** Whether all of this stays when the file grows. */
  isSettled: boolean
}

/** Reads the start of the file. Throws UnplayableError with the reason. */
export async function probeFile(file: OpenFile, signal: AbortSignal): Promise<Probe> {
  const headBytes = LAYOUT_SEARCH_BYTES + 5 * MAX_PACKET_BYTES
  const head = new Uint8Array(Math.min(headBytes, file.stat.sizeBytes))
  const length = await file.read(head, 0)
  const tsFile = { file, layout: findLayout(head.subarray(0, length)) }
  const { programs, isSettled } = await findPrograms(tsFile, signal)
  if (programs.length === 0) {
    throw new UnplayableError({ code: 'program-tables-missing' })
  }
  const sniffed = await sniffAudioTracks(tsFile, programs.flatMap(openAudioTracks), signal)
  return {
    tsFile,
    audioTracks: sniffed.audioTracks,
    isSettled:
      isSettled && sniffed.isSettled && length - tsFile.layout.start >= SETTLED_LAYOUT_BYTES,
    ...chooseProgram(programs, sniffed.audioTracks),
  }
}

/** The first program with video that browsers play, else the first with audio. */
function chooseProgram(
  programs: Program[],
  audioTracks: KnownAudioTracks,
): { program: Program; served: ServedStreams } {
  let withAudio: { program: Program; served: ServedStreams } | undefined
  let refusal: UnplayableError | undefined
  for (const program of programs) {
    try {
      const served = chooseStreams(program.map, audioTracks)
      if (served.video !== undefined) return { program, served }
      withAudio ??= { program, served }
    } catch (error) {
      if (!(error instanceof UnplayableError)) throw error
      refusal ??= error
    }
  }
  if (withAudio !== undefined) return withAudio
  throw refusal ?? new UnplayableError({ code: 'tracks-missing' })
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
  function visit(packet: PacketView): 'continue' | 'stop' {
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

function searchTables(search: TableSearch, packet: PacketView): 'continue' | 'stop' {
  const pid = packetPid(packet.header)
  const gatherer = search.gatherers.get(pid) ?? createSectionGatherer()
  search.gatherers.set(pid, gatherer)
  for (const section of gatherSections(gatherer, packet)) {
    if (pid === PAT_PID) takePat(search, section)
    else takePmt(search, section, pid)
  }
  if (search.programs.length === 0) return 'continue'
  search.searchEnd = Math.min(search.searchEnd, packet.position + MORE_TABLES_BYTES)
  const isComplete = search.programs.length >= search.entries.length
  return isComplete || packet.position > search.searchEnd ? 'stop' : 'continue'
}

function takePat(search: TableSearch, section: Uint8Array): void {
  const entries = parsePat(section)
  // Tables of the first PAT count; the scan handles later changes.
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

/** How far into a file the first frame of a stream may be. */
const SEARCH_BYTES = 32 * 1024 * 1024
/** At most this much of one stream is read. */
const FRAME_BYTES = 64 * 1024
const MAX_STREAMS = 32

/**
 * Streams of a program whose frames decide what is served: all audio, except a single stream of
 * AAC.
 */
function openAudioTracks({ map }: Program): StreamEntry[] {
  const streams = map.streams.filter(
    (stream) => isUnnamed(stream) || listedAudio(stream) !== undefined,
  )
  const isSure = streams.length === 1 && streams.every((stream) => listedAudio(stream) === 'aac')
  return isSure ? [] : streams
}

interface Sniffed {
  audioTracks: KnownAudioTracks
  /** Whether this stays when the file grows. */
  isSettled: boolean
}

/**
 * The configurations of the streams. Missing streams, and those that contradict the tables, are
 * omitted.
 */
async function sniffAudioTracks(
  tsFile: TsFile,
  streams: readonly StreamEntry[],
  signal: AbortSignal,
): Promise<Sniffed> {
  const audioTracks = new Map<number, AudioConfig>()
  const open = new Map<number, { entry: StreamEntry; stream: ElementaryStream }>()
  const interest = new Uint8Array(PID_COUNT)
  for (const entry of streams.slice(0, MAX_STREAMS)) {
    open.set(entry.pid, {
      entry,
      stream: new ElementaryStream(entry.pid, { limitBytes: FRAME_BYTES }),
    })
    interest[entry.pid] = ALL
  }
  function lookup(entry: StreamEntry, stream: ElementaryStream): void {
    const found = readAudioConfig(entry, stream.bytes)
    if (found === undefined) return
    audioTracks.set(entry.pid, found)
    settle(entry.pid)
  }
  function settle(pid: number): void {
    open.delete(pid)
    interest[pid] = 0
  }
  function visit(packet: PacketView): 'continue' | 'stop' {
    const { entry, stream } = open.get(packetPid(packet.header)) ?? {}
    if (entry === undefined || stream === undefined) return 'continue'
    if (isUnitStart(packet.header)) lookup(entry, stream)
    if (!open.has(entry.pid)) return open.size === 0 ? 'stop' : 'continue'
    if (stream.take(packet) === 'full') settle(entry.pid)
    else if (!stream.isOpen) lookup(entry, stream)
    return open.size === 0 ? 'stop' : 'continue'
  }
  const { start } = tsFile.layout
  const range = { from: start, to: start + SEARCH_BYTES, chunkBytes: SMALL_CHUNK_BYTES, signal }
  if (open.size > 0) await walkPackets(tsFile, { interest, visit }, { ...range, end: 'open' })
  const isSettled = open.size === 0 || start + SEARCH_BYTES <= tsFile.file.stat.sizeBytes
  for (const { entry, stream } of open.values()) lookup(entry, stream)
  return { audioTracks, isSettled }
}
