// What of a scan stays as it is when the recording grows, and where the audio of each section ends.
import type { Growth } from '../../media-index.ts'
import { describeGrowth } from '../../timeline/split-points.ts'
import type { TsFile } from '../packets/packet-walk.ts'
import { readPesPayload } from '../packets/read-pes.ts'
import type { Scan } from './scan.ts'
import { isStartMovable } from './sections.ts'
import type { TsForm } from '../ts-source.ts'
import { audioTicks } from '../packets/audio-frame.ts'
import type { ScanRun, ScanSection, SectionState } from './scan-state.ts'

/** A PES packet of audio is a few kilobytes; a larger one is not read in whole. */
const MAX_AUDIO_PES_BYTES = 1024 * 1024

/** `isOpen`: the streams may still change, so nothing is stable. */
export function measureGrowth(
  sections: SectionState,
  { isOpen, form }: { isOpen: boolean; form: TsForm },
): Growth {
  const firmSplitPoints = isOpen ? 0 : countStableSplitPoints(sections)
  const stableSplitPoints = form === 'fmp4' ? stableSamples(firmSplitPoints) : firmSplitPoints
  const [from = 0, to = from] = sections.points.splitPoints.offsets
  return describeGrowth(stableSplitPoints, { from, to })
}

/**
 * Stable split points of samples, from those of packets: audio is read past a split point, up to
 * the next one, which must be stable, too.
 */
export function stableSamples(stableSplitPoints: number): number {
  return Math.max(0, stableSplitPoints - 1)
}

/**
 * The last split point is not stable while earlier audio may continue after it, or frames that are
 * shown before it may follow, nor are those with open tables.
 */
function countStableSplitPoints(state: SectionState): number {
  const { splitPoints, splitCarryIsOpen } = state.points
  const isOpen = splitCarryIsOpen || isStartMovable(state)
  const known = splitPoints.offsets.length - (isOpen ? 1 : 0)
  const section = state.sections.at(-1)
  if (section?.promise !== 'waiting') return known
  return Math.min(known, section.firstSplitPoint + 1)
}

interface AudioTracks {
  run: ScanRun
  scan: Scan
  stableSplitPoints: number
}

/** Reads where the audio of each section ends, and stores what cannot change. */
export async function settleAudioTracks(
  tsFile: TsFile,
  { run, scan, stableSplitPoints }: AudioTracks,
  signal: AbortSignal,
): Promise<void> {
  const { sections, points } = scan.state.sections
  const { splitPoints } = points
  for (const [i, section] of sections.entries()) {
    if (section.audioEndPts !== undefined) continue
    signal.throwIfAborted()
    const next = sections[i + 1]?.firstSplitPoint
    const to =
      next === undefined
        ? scan.endOffset
        : (splitPoints.offsets[next] ?? scan.endOffset) + (splitPoints.carryBytes[next] ?? 0)
    section.audioEndPts = await readAudioEnd(tsFile, section, to)
    const kept = run.state.sections.sections[i]
    if (next !== undefined && next < stableSplitPoints && kept)
      kept.audioEndPts = section.audioEndPts
  }
}

async function readAudioEnd(
  tsFile: TsFile,
  { audio: audioTrack, served, promise, track }: ScanSection,
  to: number,
): Promise<number | undefined> {
  const { audio } = served
  if (audioTrack === undefined || audio === undefined || promise !== 'kept') return undefined
  if (track === undefined) return undefined
  const payload = await readPesPayload(tsFile, {
    pid: audio.pid,
    from: audioTrack.position,
    to,
    limitBytes: MAX_AUDIO_PES_BYTES,
  })
  return payload && audioTrack.pts + audioTicks(track, payload)
}
