// Scans the packets of a file for split points and discontinuities, and continues when the file
// grows.
import { readCached } from '../../../storage/recordings/read-ahead.ts'
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

/** A scan that may continue: its state, and the position of the next packet. */
export interface ScanRun {
  state: ScanState
  position: number
}

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
  takeWaiting(state)
  // Frames that wait for a key frame at the end cannot be decoded.
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
    visit: (packet: PacketView): 'continue' => {
      takePacket(state, packet)
      return 'continue'
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
