// Language (mdhd, elng: ISO/IEC 14496-12 8.4.2, 8.4.6) and title of a track.
import { isAppError } from '../../../base/errors.ts'
import type { Box } from './box.ts'
import type { FileWindow } from './file-window.ts'

/** Each is absent if the file does not have it. */
export interface TrackLabels {
  /** ISO 639-2, or BCP 47 if the file has an extended tag. */
  language?: string
  name?: string
}

/** Longer titles and tags are truncated. */
const MAX_LABEL_BYTES = 256

/** Reads the labels of a track; `mdia` is its media box. Corrupt labels are ignored. */
export async function readTrackLabels(
  window: FileWindow,
  trak: Box,
  mdia: Box,
): Promise<TrackLabels> {
  try {
    return await readLabels(window, trak, mdia)
  } catch (error) {
    if (isAppError(error, 'unplayable')) return {}
    throw error
  }
}

async function readLabels(window: FileWindow, trak: Box, mdia: Box): Promise<TrackLabels> {
  const mediaBoxes = await window.children(mdia)
  const extended = await readString(
    window,
    mediaBoxes.find((box) => box.type === 'elng'),
    4,
  )
  const mdhd = mediaBoxes.find((box) => box.type === 'mdhd')
  const language = extended ?? (mdhd && (await readPackedLanguage(window, mdhd)))
  const udta = (await window.children(trak)).find((box) => box.type === 'udta')
  const userBoxes = udta === undefined ? [] : await window.children(udta)
  const name = await readString(
    window,
    userBoxes.find((box) => box.type === 'name'),
    0,
  )
  return { ...(language !== undefined && { language }), ...(name !== undefined && { name }) }
}

/**
 * Three letters of five bits each. QuickTime's language codes are ignored: the one for English is
 * also the default value.
 */
async function readPackedLanguage(window: FileWindow, mdhd: Box): Promise<string | undefined> {
  const isLong = (await window.content(mdhd, 4)).getUint8(0) === 1
  const at = isLong ? 32 : 20
  const packed = (await window.content(mdhd, at + 2)).getUint16(at)
  const letters = [10, 5, 0].map((shift) => (packed >> shift) & 0x1f)
  if (!letters.every((letter) => letter >= 1 && letter <= 26)) return undefined
  const language = String.fromCharCode(...letters.map((letter) => letter + 0x60))
  return language === 'und' ? undefined : language
}

/** A zero-terminated string; undefined if it is missing, empty or not UTF-8. */
async function readString(
  window: FileWindow,
  box: Box | undefined,
  skipBytes: number,
): Promise<string | undefined> {
  const length = Math.min((box?.end ?? 0) - (box?.contentStart ?? 0), MAX_LABEL_BYTES)
  if (box === undefined || length <= skipBytes) return undefined
  const view = await window.content(box, length)
  const bytes = new Uint8Array(view.buffer, view.byteOffset + skipBytes, length - skipBytes)
  const text = new TextDecoder().decode(bytes).split('\0', 1)[0]?.trim() ?? ''
  return text === '' || text.includes('\uFFFD') ? undefined : text
}
