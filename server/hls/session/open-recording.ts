// Opens a session's file, also in the moment after its recorder has given it its last name, before the catalog knows.
import { joinPath, splitPath } from '../../catalog/names/library-path.ts'
import { parseRecordingName } from '../../catalog/names/recording-name.ts'
import { isAppError } from '../../errors.ts'
import type { OpenFile, Storage } from '../../storage/storage.ts'

/** A file, and where it lies by now. */
export interface OpenRecording {
  path: string
  file: OpenFile
}

/**
 * The file at `path`, or the best of those beside it whose names say that they are the same recording on its way or
 * whole: `x.ts` for `x.tmp.ts`.
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
  const place = splitPath(path)
  const wanted = place && parseRecordingName(place.name)?.base
  if (place === undefined || wanted === undefined) return undefined
  const entries = await storage.list(place.folder)
  const [best] = entries
    .flatMap(({ name, kind }) => {
      const parsed = kind === 'file' ? parseRecordingName(name) : undefined
      return parsed?.base === wanted ? [{ name, rank: parsed.rank }] : []
    })
    .toSorted((a, b) => a.rank - b.rank)
  return best && joinPath(place.folder, best.name)
}
