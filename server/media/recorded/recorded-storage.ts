// A storage in which the runs behind a recorder's playlist look like files: `…/list.m3u8/0`, `…/list.m3u8/1` and so on.
import { LRUCache } from 'lru-cache'
import { AppError, isAppError } from '../../errors.ts'
import { openConcatenated } from '../../storage/concatenated-file.ts'
import type { FileRange } from '../../storage/concatenated-file.ts'
import type { FileStat, OpenFile, Storage } from '../../storage/storage.ts'
import { RecordedFolders } from './read-recorded-folder.ts'
import type { RecordedPart } from './read-recorded-folder.ts'

/** A run of a playlist under the path by which this storage opens it. */
export interface RecordedFile {
  path: string
  stat: FileStat
  /** When it began, in milliseconds since 1970, where the playlist says so. */
  startMs?: number
}

/** A storage that knows what recorders' playlists list. */
export interface RecordedStorage extends Storage {
  /**
   * The runs behind the playlist at `path`, in the order they are played. Never empty.
   *
   * @throws AppError `not_found` where there is no playlist, `unplayable` with the reason
   */
  listRuns(path: string): Promise<RecordedFile[]>
}

/** A path that no file can have: it lies in a file. */
const RUN_PATH = /^(?<playlist>.+\.m3u8)\/(?<number>0|[1-9]\d{0,5})$/is
const MAX_PLAYLISTS = 256
/** What a playlist that has not changed lists is looked at again so often: a segment may come late, or be taken away. */
const LISTED_FOR_MS = 5000

interface Listed {
  stat: FileStat
  parts: Promise<RecordedPart[]>
}

/** The storage, with runs of playlists as files beside its own. */
export function withRecordedPlaylists(storage: Storage): RecordedStorage {
  const folders = new RecordedFolders(storage)
  const listed = new LRUCache<string, Listed>({ max: MAX_PLAYLISTS, ttl: LISTED_FOR_MS })

  async function partsOf(playlist: string): Promise<RecordedPart[]> {
    const stat = await storage.stat(playlist)
    const known = listed.get(playlist)
    if (known && isSame(known.stat, stat)) return known.parts
    const parts = folders.read(playlist)
    listed.set(playlist, { stat, parts })
    parts.catch(() => listed.delete(playlist))
    return parts
  }

  async function rangesAt({ playlist, number }: RunPath): Promise<FileRange[]> {
    const part = (await partsOf(playlist))[number]
    if (part === undefined) throw new AppError('not_found', 'there is no such run in the playlist')
    return part.ranges
  }

  /** A segment that was replaced behind our back is found at the next try. */
  function forgetting(playlist: string, file: OpenFile): OpenFile {
    const read = async <Value>(reading: Promise<Value>): Promise<Value> => {
      try {
        return await reading
      } catch (error) {
        if (isAppError(error, 'gone', 'not_found')) listed.delete(playlist)
        throw error
      }
    }
    return {
      stat: file.stat,
      read: async (buffer, position) => read(file.read(buffer, position)),
      readv: async (buffers, position) => read(file.readv(buffers, position)),
      checkUnchanged: async () => file.checkUnchanged(),
      close: async () => file.close(),
    }
  }

  return {
    list: async (folder, options) => storage.list(folder, options),
    watch: async (onChange, signal) => storage.watch(onChange, signal),
    async stat(path) {
      const run = parseRunPath(path)
      return run === undefined ? storage.stat(path) : statOf(await rangesAt(run))
    },
    async open(path) {
      const run = parseRunPath(path)
      if (run === undefined) return storage.open(path)
      return forgetting(run.playlist, openConcatenated(storage, await rangesAt(run)))
    },
    async listRuns(path) {
      const parts = await partsOf(path)
      return parts.map(({ ranges, startMs }, number) => ({
        path: `${path}/${number}`,
        stat: statOf(ranges),
        ...(startMs !== undefined && { startMs }),
      }))
    },
  }
}

interface RunPath {
  playlist: string
  number: number
}

function parseRunPath(path: string): RunPath | undefined {
  const groups = RUN_PATH.exec(path)?.groups
  if (groups?.playlist === undefined) return undefined
  return { playlist: groups.playlist, number: Number(groups.number) }
}

/** As the concatenated file tells it. */
function statOf(ranges: readonly FileRange[]): FileStat {
  return {
    sizeBytes: ranges.reduce((sum, { length }) => sum + length, 0),
    modifiedMs: ranges.reduce((newest, { stat }) => Math.max(newest, stat.modifiedMs), 0),
  }
}

function isSame(a: FileStat, b: FileStat): boolean {
  return a.sizeBytes === b.sizeBytes && a.modifiedMs === b.modifiedMs
}
