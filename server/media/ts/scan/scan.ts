// Goes through the packets of a file and notes where its cuts, breaks and ends are; and goes on there when it has grown.
import { readCached } from '../../../storage/read-ahead.ts'
import { isCorrupt, packetPid } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { SCAN_CHUNK_BYTES, walkPackets } from '../packets/packet-walk.ts'
import type { TsFile } from '../packets/packet-walk.ts'
import { PAT_PID } from '../packets/program-table.ts'
import { finishFrame, takeFramePacket, takeWaiting } from './scan-frame.ts'
import { addHole } from './scan-section.ts'
import { takeAudioPacket } from './scan-audio.ts'
import { createScanState, noteFlaw } from './scan-state.ts'
import type { ScanOptions, ScanState } from './scan-state.ts'
import { takeTablePacket } from './scan-tables.ts'

/** A scan that may go on: what it knows, and the position of the packet that it has not seen yet. */
export interface ScanRun {
  state: ScanState
  position: number
}

/** What is to be served when nothing more comes. */
export interface Scan {
  state: ScanState
  /** Position behind the last packet that is served. */
  endOffset: number
  /** Position behind the last whole packet. */
  end: number
}

export function beginScan(options: ScanOptions): ScanRun {
  return { state: createScanState(options), position: options.start }
}

/**
 * Goes on to the end of the file, as it was when it was opened. What the state is then depends on nothing but the bytes
 * before the position. Throws AppError `unplayable` where a bound is passed.
 */
export async function continueScan(
  tsFile: TsFile,
  run: ScanRun,
  signal: AbortSignal,
): Promise<void> {
  run.position = await walk(tsFile, run, { signal, end: 'open' })
}

/** Ends a copy of the scan where the file ends now, with what is not whole yet. */
export async function endScan(tsFile: TsFile, run: ScanRun, signal: AbortSignal): Promise<Scan> {
  const copy = { ...run, state: structuredClone(run.state) }
  const { state } = copy
  // Sync may be lost, and too little behind it to be sure that it is found.
  const isWhole = tsFile.file.stat.sizeBytes - run.position < tsFile.layout.packetBytes
  const end = isWhole ? run.position : await walk(tsFile, copy, { signal })
  finishFrame(state)
  takeWaiting(state)
  // What waits for a key frame at the end cannot be decoded.
  return { state, endOffset: state.gate?.from ?? end, end }
}

async function walk(
  tsFile: TsFile,
  { state, position }: ScanRun,
  options: { signal: AbortSignal; end?: 'open' },
): Promise<number> {
  const visitor = {
    interest: state.interest,
    counters: state.lastCounters,
    visit: (packet: PacketView): 'go on' => {
      takePacket(state, packet)
      return 'go on'
    },
    lost(from: number, to: number) {
      addHole(state, from, to)
      noteFlaw(state, { code: 'corrupt', lengthBytes: to - from, offsetBytes: from })
    },
  }
  const to = tsFile.file.stat.sizeBytes
  const range = { from: position, to, chunkBytes: SCAN_CHUNK_BYTES, ...options }
  return walkPackets({ ...tsFile, file: readCached(tsFile.file) }, visitor, range)
}

function takePacket(state: ScanState, packet: PacketView): void {
  if (isCorrupt(packet.header)) return
  const { program, served } = state
  const pid = packetPid(packet.header)
  if (pid === PAT_PID || pid === program.pmtPid) takeTablePacket(state, packet)
  else if (pid === served.video?.pid) takeFramePacket(state, packet, served.video)
  else if (pid === served.audio?.pid) takeAudioPacket(state, packet, served.audio)
}
