// A storage that presents the runs of a recorder's playlist as files: `…/list.m3u8/0`,
// `…/list.m3u8/1` and so on.
import { AppError, isAppError } from '../../base/errors.ts'
import { ConcatenatedFile } from '../../storage/recordings/concatenated-file.ts'
import type { RangeList } from '../../storage/recordings/range-list.ts'
import type { OpenFile, Storage } from '../../storage/recordings/storage.ts'
import { RecordedLists } from './recorded-lists.ts'
import type { RecordedFile, RecordedListOptions } from './recorded-lists.ts'

/** A storage that can list the runs of recorders' playlists. */
export interface RecordedStorage extends Storage {
  /**
   * The runs of the playlist at `path`, in playback order; at least one. Returns the same array
   * until they change.
   *
   * @throws AppError `not_found` if there is no playlist, `unplayable` with the reason
   */
  listRuns(path: string): Promise<readonly RecordedFile[]>
  /**
   * Calls `work` with the ranges of the run at `path`, which is undefined for another file. If
   * `work` rejects because a segment was replaced, the playlist is read again on the next request.
   */
  withRanges<Value>(
    path: string,
    work: (ranges: RangeList | undefined) => Promise<Value>,
  ): Promise<Value>
}

/** No real file can have this path, because its parent is a file. */
const RUN_PATH = /^(?<playlist>.+\.m3u8)\/(?<number>0|[1-9]\d{0,5})$/is

/** Adds the runs of playlists to the files of a storage. */
export function withRecordedPlaylists(
  storage: Storage,
  options: RecordedListOptions = {},
): RecordedStorage {
  const lists = new RecordedLists(storage, options)

  async function rangesAt({ playlist, number }: RunPath): Promise<RangeList> {
    // At any age, because each range is compared with its file when it is read.
    const { list } = await lists.find(playlist, 'any')
    const run = list.runs[number]
    if (run === undefined) throw new AppError('not_found', 'there is no such run in the playlist')
    return run.ranges
  }

  /** A segment that was replaced is read again on the next request. */
  async function evictIfGone<Value>(playlist: string, reading: Promise<Value>): Promise<Value> {
    try {
      return await reading
    } catch (error) {
      if (isAppError(error, 'gone', 'not_found')) lists.evict(playlist)
      throw error
    }
  }

  function evictOnChange(playlist: string, file: OpenFile): OpenFile {
    const read = async <Value>(reading: Promise<Value>): Promise<Value> =>
      evictIfGone(playlist, reading)
    return {
      stat: file.stat,
      read: async (buffer, position) => read(file.read(buffer, position)),
      readv: async (buffers, position) => read(file.readv(buffers, position)),
      willReadInOrder: (position, length) => file.willReadInOrder?.(position, length),
      checkUnchanged: async () => file.checkUnchanged(),
      close: async () => file.close(),
    }
  }

  return {
    list: async (folder, listing) => storage.list(folder, listing),
    watch: async (onChange, signal) => storage.watch(onChange, signal),
    async stat(path, options) {
      const run = parseRunPath(path)
      return run === undefined ? storage.stat(path, options) : (await rangesAt(run)).stat
    },
    async open(path, options) {
      const run = parseRunPath(path)
      if (run === undefined) return storage.open(path, options)
      return evictOnChange(run.playlist, new ConcatenatedFile(storage, await rangesAt(run)))
    },
    listRuns: async (path) => (await lists.find(path, 'recent')).files,
    async withRanges(path, work) {
      const run = parseRunPath(path)
      if (run === undefined) return work(undefined)
      return evictIfGone(run.playlist, work(await rangesAt(run)))
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
