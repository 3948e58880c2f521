// Default values for the samples of fragments (trex, ISO/IEC 14496-12 8.8.3).
import type { Box } from './box.ts'
import type { FileWindow } from './file-window.ts'
import { MAX_TRACKS } from '../mp4-limits.ts'

/** Defaults of one track. */
export interface FragmentDefaults {
  /** Sample entry, from 1. */
  description: number
  durationTicks: number
  sizeBytes: number
  flags: number
}

/** The defaults of an mvex box, by track id. */
export async function readFragmentDefaults(
  window: FileWindow,
  mvex: Box,
): Promise<Map<number, FragmentDefaults>> {
  const defaults = new Map<number, FragmentDefaults>()
  for (const box of await window.children(mvex)) {
    if (box.type !== 'trex' || defaults.size >= MAX_TRACKS) continue
    const bytes = await window.content(box, 24)
    defaults.set(bytes.getUint32(4), {
      description: bytes.getUint32(8),
      durationTicks: bytes.getUint32(12),
      sizeBytes: bytes.getUint32(16),
      flags: bytes.getUint32(20),
    })
  }
  return defaults
}
