// Opens a session's file, also if its recorder has renamed it since the last scan.
import { joinPath, splitPath } from '../../../storage/recordings/library-path.ts'
import { parseRecordingName } from '../../../library/catalog/names/recording-name.ts'
import { isAppError } from '../../../base/errors.ts'
import type { OpenFile, Storage } from '../../../storage/recordings/storage.ts'

/** An open file and its current path. */
export interface OpenRecording {
  path: string
  file: OpenFile
}

/**
 * The file at `path`, or another file in its folder that is the same recording by its name: `x.ts`
 * for `x.tmp.ts`.
 *
 * @throws AppError `not_found`
 */
export async function openRecording(storage: Storage, path: string): Promise<OpenRecording> {
  try {
    return { path, file: await storage.open(path) }
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error
    const renamed = await findRenamed(storage, path)
    if (renamed === undefined) throw error
    return { path: renamed, file: await storage.open(renamed) }
  }
}

async function findRenamed(storage: Storage, path: string): Promise<string | undefined> {
  const parts = splitPath(path)
  const base = parts && parseRecordingName(parts.name)?.base
  if (parts === undefined || base === undefined) return undefined
  const entries = await storage.list(parts.folder)
  const [best] = entries
    .flatMap(({ name, kind }) => {
      const parsed = kind === 'file' ? parseRecordingName(name) : undefined
      return parsed?.base === base ? [{ name, rank: parsed.rank }] : []
    })
    .toSorted((a, b) => a.rank - b.rank)
  return best && joinPath(parts.folder, best.name)
}
