// Program tables: which PIDs have which content (ISO/IEC 13818-1 2.4.4.3 PAT, 2.4.4.8 PMT).
import { buildSection, uint16 } from './table-section.ts'

export const PAT_PID = 0
const PAT_TABLE_ID = 0
const PMT_TABLE_ID = 2
/** Further programs or streams in one table are ignored. */
const MAX_PROGRAMS = 64
const MAX_STREAMS = 64

export interface ProgramEntry {
  /** 0 is the network information table, not a program. */
  programNumber: number
  pid: number
}

export interface ProgramMap {
  programNumber: number
  pcrPid: number
  streams: StreamEntry[]
}

export interface StreamEntry {
  streamType: number
  pid: number
  /** Descriptors, unchanged. */
  descriptors: Uint8Array
}

/** Entries of a current PAT section; undefined for another table, or one not yet in force. */
export function parsePat(section: Uint8Array): ProgramEntry[] | undefined {
  if (section[0] !== PAT_TABLE_ID || !isCurrent(section)) return undefined
  const entries: ProgramEntry[] = []
  for (let at = 8; at + 4 <= section.length - 4 && entries.length < MAX_PROGRAMS; at += 4) {
    entries.push({ programNumber: uint16(section, at), pid: uint16(section, at + 2) & 0x1fff })
  }
  return entries
}

/** Streams of a current PMT section; undefined for another table, or one not yet in force. */
export function parsePmt(section: Uint8Array): ProgramMap | undefined {
  if (section[0] !== PMT_TABLE_ID || !isCurrent(section)) return undefined
  const end = section.length - 4
  const streams: StreamEntry[] = []
  let at = 12 + (uint16(section, 10) & 0x0fff)
  while (at + 5 <= end && streams.length < MAX_STREAMS) {
    const descriptorsEnd = at + 5 + (uint16(section, at + 3) & 0x0fff)
    if (descriptorsEnd > end) break
    streams.push({
      streamType: section[at] ?? 0,
      pid: uint16(section, at + 1) & 0x1fff,
      descriptors: section.slice(at + 5, descriptorsEnd),
    })
    at = descriptorsEnd
  }
  return { programNumber: uint16(section, 3), pcrPid: uint16(section, 8) & 0x1fff, streams }
}

/** current_next_indicator (2.4.4.5). */
function isCurrent(section: Uint8Array): boolean {
  return ((section[5] ?? 0) & 1) === 1
}

/** A PAT with one program. */
export function buildPat(
  transportStreamId: number,
  { programNumber, pid }: ProgramEntry,
): Uint8Array {
  return buildSection(PAT_TABLE_ID, transportStreamId, [
    ...uint16Bytes(programNumber),
    ...uint16Bytes(0xe000 | pid),
  ])
}

/** A PMT with these streams, without descriptors (H.264, HEVC, AAC and MP3 need none). */
export function buildPmt({ programNumber, pcrPid, streams }: ProgramMap): Uint8Array {
  const listed = streams.flatMap(({ streamType, pid }) => [
    streamType,
    ...uint16Bytes(0xe000 | pid),
    ...uint16Bytes(0xf000),
  ])
  const body = [...uint16Bytes(0xe000 | pcrPid), ...uint16Bytes(0xf000), ...listed]
  return buildSection(PMT_TABLE_ID, programNumber, body)
}

function uint16Bytes(value: number): number[] {
  return [value >>> 8, value & 0xff]
}
