// Goes once through all packets of a file and notes where its cuts, breaks and ends are.
import { isDamaged, packetPid } from './packet.ts'
import type { PacketView } from './packet.ts'
import { SCAN_CHUNK_BYTES, walkPackets } from './packet-walk.ts'
import type { TsFile } from './packet-walk.ts'
import { PAT_PID } from './program-table.ts'
import { finishPicture, takePicturePacket } from './scan-picture.ts'
import { addHole } from './scan-section.ts'
import { cutTail, takeSoundPacket } from './scan-sound.ts'
import { createScanState } from './scan-state.ts'
import type { ScanOptions, ScanState } from './scan-state.ts'
import { takeTablePacket } from './scan-tables.ts'

export type Scan = Pick<ScanState, 'cuts' | 'sections' | 'holes' | 'counts'> & {
  /** Position behind the last packet that is served. */
  endOffset: number
}

/** Scans the whole file. Throws AppError `unplayable` where a bound is passed. */
export async function scanFile(
  tsFile: TsFile,
  options: Omit<ScanOptions, 'packetBytes' | 'start'>,
  signal: AbortSignal,
): Promise<Scan> {
  const { packetBytes, start } = tsFile.layout
  const state = createScanState({ ...options, packetBytes, start })
  const visitor = {
    interest: state.interest,
    visit: (packet: PacketView): 'go on' => {
      takePacket(state, packet)
      return 'go on'
    },
    lost: (from: number, to: number) => addHole(state, from, to),
  }
  const range = {
    from: start,
    to: tsFile.file.stat.sizeBytes,
    chunkBytes: SCAN_CHUNK_BYTES,
    signal,
  }
  const end = await walkPackets(tsFile, visitor, range)
  return finishScan(state, end)
}

function takePacket(state: ScanState, packet: PacketView): void {
  if (isDamaged(packet.header)) return
  const { program, served } = state
  const pid = packetPid(packet.header)
  if (pid === PAT_PID || pid === program.pmtPid) takeTablePacket(state, packet)
  else if (pid === served.video?.pid) takePicturePacket(state, packet, served.video)
  else if (pid === served.audio?.pid) takeSoundPacket(state, packet, served.audio)
}

function finishScan(state: ScanState, end: number): Scan {
  finishPicture(state)
  cutTail(state)
  const { cuts, sections, holes, counts, gate } = state
  // What waits for a key frame at the end cannot be decoded.
  return { cuts, sections, holes, counts, endOffset: gate?.from ?? end }
}
