// A storage that presents the runs of a recorder's playlist as files: `…/list.m3u8/0`,
// `…/list.m3u8/1` and so on.
import { LRUCache } from 'lru-cache'
import { AppError, isAppError } from '../../errors.ts'
import { concatenatedStat, openConcatenated } from '../../storage/concatenated-file.ts'
import type { FileRange } from '../../storage/concatenated-file.ts'
import type { FileStat, OpenFile, Storage } from '../../storage/storage.ts'
import { RecordedFolders } from './read-recorded-folder.ts'
import type { RecordedPart } from './read-recorded-folder.ts'

/** A run of a playlist, with the path at which this storage opens it. */
export interface RecordedFile {
  path: string
  stat: FileStat
  /** Start in Unix milliseconds, if the playlist has it. */
  startMs?: number
}

/** A storage that can list the runs of recorders' playlists. */
export interface RecordedStorage extends Storage {
  /**
   * The runs of the playlist at `path`, in playback order; at least one.
   *
   * @throws AppError `not_found` if there is no playlist, `unplayable` with the reason
   */
  listRuns(path: string): Promise<RecordedFile[]>
}

/** No real file can have this path, because its parent is a file. */
const RUN_PATH = /^(?<playlist>.+\.m3u8)\/(?<number>0|[1-9]\d{0,5})$/is
const MAX_PLAYLISTS = 256
/** An unchanged playlist is read again after this time: a segment may be added late, or deleted. */
const LIST_TTL_MS = 5000

interface CachedList {
  stat: FileStat
  parts: Promise<RecordedPart[]>
}

/** Adds the runs of playlists to the files of a storage. */
export function withRecordedPlaylists(storage: Storage): RecordedStorage {
  const folders = new RecordedFolders(storage)
  const cache = new LRUCache<string, CachedList>({ max: MAX_PLAYLISTS, ttl: LIST_TTL_MS })

  async function partsOf(playlist: string): Promise<RecordedPart[]> {
    const stat = await storage.stat(playlist)
    const cached = cache.get(playlist)
    if (cached?.stat.version === stat.version) return cached.parts
    const parts = folders.read(playlist)
    cache.set(playlist, { stat, parts })
    parts.catch(() => cache.delete(playlist))
    return parts
  }

  async function rangesAt({ playlist, number }: RunPath): Promise<FileRange[]> {
    const part = (await partsOf(playlist))[number]
    if (part === undefined) throw new AppError('not_found', 'there is no such run in the playlist')
    return part.ranges
  }

  /** A segment that was replaced is read again on the next request. */
  function evictOnChange(playlist: string, file: OpenFile): OpenFile {
    const read = async <Value>(reading: Promise<Value>): Promise<Value> => {
      try {
        return await reading
      } catch (error) {
        if (isAppError(error, 'gone', 'not_found')) cache.delete(playlist)
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
      return run === undefined ? storage.stat(path) : concatenatedStat(await rangesAt(run))
    },
    async open(path) {
      const run = parseRunPath(path)
      if (run === undefined) return storage.open(path)
      return evictOnChange(run.playlist, openConcatenated(storage, await rangesAt(run)))
    },
    async listRuns(path) {
      const parts = await partsOf(path)
      return parts.map(({ ranges, startMs }, number) => ({
        path: `${path}/${number}`,
        stat: concatenatedStat(ranges),
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
