// What of a scan stays as it is when the recording grows, and what is known for good of the sound in it.
import type { Growth } from '../media-index.ts'
import type { TsFile } from './packet-walk.ts'
import { readPesPayload } from './pes-read.ts'
import type { Scan, ScanRun } from './scan.ts'
import type { ScanSection, ScanState } from './scan-state.ts'
import { soundTicks } from './sound-track.ts'

/** A PES packet of sound is a few kilobytes; one larger is not read in whole. */
const MAX_SOUND_PES_BYTES = 1024 * 1024
const MAX_STABLE_BYTES = 64 * 1024

/** `isOpen`: what the recording is may still change, so that nothing stays. */
export function measureGrowth(state: ScanState, isOpen: boolean): Growth {
  const stableCuts = isOpen ? 0 : countStableCuts(state)
  const [offset = 0, second = offset] = state.cuts.offsets
  const length = stableCuts < 2 ? 0 : Math.min(MAX_STABLE_BYTES, second - offset)
  return { stableCuts, stableRange: { offset, length } }
}

/** The last cut is not there for good while sound from before it may go on behind it, nor are those whose tables are open. */
function countStableCuts({ cuts, sections, cutCarryIsOpen }: ScanState): number {
  const known = cuts.offsets.length - (cutCarryIsOpen ? 1 : 0)
  const section = sections.at(-1)
  if (section?.promise !== 'waiting') return known
  return Math.min(known, section.firstCut + 1)
}

interface Sounds {
  run: ScanRun
  scan: Scan
  stableCuts: number
}

/** Reads where the sound of each section ends, and keeps what cannot change any more. */
export async function settleSounds(
  tsFile: TsFile,
  { run, scan, stableCuts }: Sounds,
  signal: AbortSignal,
): Promise<void> {
  const { sections, cuts } = scan.state
  for (const [i, section] of sections.entries()) {
    if (section.soundEndPts !== undefined) continue
    signal.throwIfAborted()
    const next = sections[i + 1]?.firstCut
    const to =
      next === undefined
        ? scan.endOffset
        : (cuts.offsets[next] ?? scan.endOffset) + (cuts.carryBytes[next] ?? 0)
    section.soundEndPts = await readSoundEnd(tsFile, section, to)
    const kept = run.state.sections[i]
    if (next !== undefined && next < stableCuts && kept) kept.soundEndPts = section.soundEndPts
  }
}

async function readSoundEnd(
  tsFile: TsFile,
  { sound, served, promise }: ScanSection,
  to: number,
): Promise<number | undefined> {
  const { audio } = served
  if (sound === undefined || audio === undefined || promise !== 'kept') return undefined
  const payload = await readPesPayload(tsFile, {
    pid: audio.pid,
    from: sound.position,
    to,
    limitBytes: MAX_SOUND_PES_BYTES,
  })
  return payload && sound.pts + soundTicks(audio, payload)
}
