// Reads the chapters in the container of a recording. They are not in the index: it would change
// the URLs of recordings that were served without them.
import { isAppError } from '../../base/errors.ts'
import type { Storage } from '../../storage/recordings/storage.ts'
import type { RecordedChapter } from '../media-reader.ts'
import type { MediaReaders } from '../readers.ts'

/** Chapters, and the version of the file that has them. */
export interface RecordedChapters {
  version: string
  chapters: RecordedChapter[]
}

/** Chapters that are not readable count as none. @throws AppError `not_found`, `busy`, `gone` */
export async function readRecordedChapters(
  path: string,
  { storage, readers }: { storage: Storage; readers: MediaReaders },
): Promise<RecordedChapters> {
  const file = await storage.open(path)
  const { version } = file.stat
  try {
    const reader = await readers.forFile(file)
    const chapters = await reader.readChapters?.(file, new AbortController().signal)
    return { version, chapters: chapters ?? [] }
  } catch (error) {
    if (isAppError(error, 'unplayable', 'failed')) return { version, chapters: [] }
    throw error
  } finally {
    await file.close()
  }
}
