// What a track is called for people: its language (mdhd, elng: ISO/IEC 14496-12 8.4.2, 8.4.6) and its title.
import { isAppError } from '../../../errors.ts'
import type { Box } from './box.ts'
import type { FileWindow } from './file-window.ts'

/** Absent where the file says nothing. */
export interface TrackLabels {
  /** ISO 639-2, or BCP 47 where the file has an extended tag. */
  language?: string
  name?: string
}

/** No title or tag is longer. */
const MAX_TEXT_BYTES = 256

/** Reads the labels of a track; `mdia` is its media box. Broken ones are none. */
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
  const inMedia = await window.children(mdia)
  const extended = await readText(
    window,
    inMedia.find((box) => box.type === 'elng'),
    4,
  )
  const mdhd = inMedia.find((box) => box.type === 'mdhd')
  const language = extended ?? (mdhd && (await readPackedLanguage(window, mdhd)))
  const udta = (await window.children(trak)).find((box) => box.type === 'udta')
  const inUser = udta === undefined ? [] : await window.children(udta)
  const name = await readText(
    window,
    inUser.find((box) => box.type === 'name'),
    0,
  )
  return { ...(language !== undefined && { language }), ...(name !== undefined && { name }) }
}

/** Three letters of five bits each. QuickTime's own numbers are left out: theirs for English is also what is there where nobody said. */
async function readPackedLanguage(window: FileWindow, mdhd: Box): Promise<string | undefined> {
  const isLong = (await window.content(mdhd, 4)).getUint8(0) === 1
  const at = isLong ? 32 : 20
  const packed = (await window.content(mdhd, at + 2)).getUint16(at)
  const letters = [10, 5, 0].map((shift) => (packed >> shift) & 0x1f)
  if (!letters.every((letter) => letter >= 1 && letter <= 26)) return undefined
  const language = String.fromCharCode(...letters.map((letter) => letter + 0x60))
  return language === 'und' ? undefined : language
}

/** Text up to its end mark; undefined where there is none, or not in UTF-8. */
async function readText(
  window: FileWindow,
  box: Box | undefined,
  skipBytes: number,
): Promise<string | undefined> {
  const length = Math.min((box?.end ?? 0) - (box?.contentStart ?? 0), MAX_TEXT_BYTES)
  if (box === undefined || length <= skipBytes) return undefined
  const view = await window.content(box, length)
  const bytes = new Uint8Array(view.buffer, view.byteOffset + skipBytes, length - skipBytes)
  const text = new TextDecoder().decode(bytes).split('\0', 1)[0]?.trim() ?? ''
  return text === '' || text.includes('\uFFFD') ? undefined : text
}
