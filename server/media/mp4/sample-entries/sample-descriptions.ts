// The sample descriptions of a track (stsd, ISO/IEC 14496-12 8.5.2), parsed entry by entry.
import { type AudioDescription, parseAudioEntry } from './audio-entry.ts'
import { type Box, invalidBox } from '../boxes/box.ts'
import type { Description, RawEntry } from './entry-parts.ts'
import type { FileWindow } from '../boxes/file-window.ts'
import { MAX_DESCRIPTIONS, MAX_SAMPLE_ENTRY_BYTES } from '../mp4-limits.ts'
import { type VideoDescription, parseVideoEntry } from './video-entry.ts'

/** The video sample entries of a track's `stsd`, in order. */
export async function readVideoDescriptions(
  window: FileWindow,
  stsd: Box,
): Promise<Description<VideoDescription>[]> {
  return (await readEntries(window, stsd)).map(parseVideoEntry)
}

/** The audio sample entries of a track's `stsd`, in order. */
export async function readAudioDescriptions(
  window: FileWindow,
  stsd: Box,
): Promise<Description<AudioDescription>[]> {
  return (await readEntries(window, stsd)).map(parseAudioEntry)
}

async function readEntries(window: FileWindow, stsd: Box): Promise<RawEntry[]> {
  if (stsd.end - stsd.contentStart < 8) throw invalidBox(stsd, 'too-small')
  const header = await window.view(stsd.contentStart, 8)
  const children = await window.children({ ...stsd, contentStart: stsd.contentStart + 8 })
  // Recorders reserve space after the entries, as a further box.
  const boxes = children.slice(0, Math.max(header.getUint32(4), 1))
  if (boxes.length === 0) throw invalidBox(stsd, 'empty')
  if (boxes.length > MAX_DESCRIPTIONS) {
    throw invalidBox(stsd, 'too-many-entries', boxes.length)
  }
  const entries: RawEntry[] = []
  for (const box of boxes) {
    if (box.end - box.start > MAX_SAMPLE_ENTRY_BYTES) {
      throw invalidBox(box, 'too-large')
    }
    const bytes = await window.view(box.start, box.end - box.start)
    entries.push({ box, bytes, stsdVersion: header.getUint8(0) })
  }
  return entries
}
