// Reads a subtitle file next to a recording.
import { createHash } from 'node:crypto'
import { closingAsync } from '../../base/closing.ts'
import { AppError } from '../../base/errors.ts'
import type { Storage } from '../../storage/recordings/storage.ts'
import { parseSubtitles } from '../codec/subtitle-file.ts'
import type { SubtitleFormat } from '../codec/subtitle-file.ts'
import type { SubtitleCue } from '../media-index.ts'

/** Larger files are not read. */
export const MAX_SUBTITLE_FILE_BYTES = 8 * 1024 * 1024

export interface SubtitleFile {
  path: string
  format: SubtitleFormat
}

export interface ReadSubtitles {
  /** Empty for a file that has none. */
  cues: SubtitleCue[]
  /** Identifies the content. */
  version: string
}

/** @throws AppError `not_found`; `failed` if the file is not readable, or too large; `busy` */
export async function readSubtitles(
  storage: Pick<Storage, 'open'>,
  { path, format }: SubtitleFile,
): Promise<ReadSubtitles> {
  const file = await storage.open(path)
  await using _closing = closingAsync(file)
  const { sizeBytes } = file.stat
  if (sizeBytes > MAX_SUBTITLE_FILE_BYTES)
    throw new AppError('failed', 'the subtitle file is too large')
  const bytes = Buffer.alloc(sizeBytes)
  const content = bytes.subarray(0, await file.read(bytes, 0))
  const version = createHash('sha256').update(content).digest('hex').slice(0, 8)
  return { cues: parseSubtitles(content, format), version }
}
