// Makes libraries of very many recordings of a few bytes each, and what the index of each would be.
import {
  closeSync,
  existsSync,
  ftruncateSync,
  futimesSync,
  mkdirSync,
  openSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { inspectRecording } from '../../server/media/index/inspect-recording.ts'
import { createMediaReaders } from '../../server/media/readers.ts'
import { IndexFiles } from '../../server/media/index/index-files.ts'
import { createFolderStorage } from '../../server/storage/recordings/folder/folder-storage.ts'
import { fileStat } from '../../server/storage/recordings/folder/open-file.ts'

/** How large a made library is: every streamer has as many dates, every date as many files. */
export interface TreeSize {
  streamers: number
  dates: number
  files: number
}

const MEDIA = path.resolve(import.meta.dirname, '../../test/fixtures/media')
/** The recording whose index is used for all of them. */
const MODEL = 'mp4-h264-aac-editlist-video-starts-1s.mp4'
/** Long enough ago that every file counts as finished. */
const RECORDED_AT = new Date('2026-01-01T00:00:00Z')
const FILE_BYTES = 8
const WRITES_AT_ONCE = 64

/** Makes the library in `folder` unless it is complete. */
export function ensureTree(folder: string, size: TreeSize): void {
  const stamp = `${folder}.made`
  if (existsSync(stamp)) return
  console.error(`Making ${size.streamers * size.dates * size.files} recordings, once`)
  let made = ''
  for (const file of treePaths(size)) {
    const target = path.join(folder, file)
    const parent = path.dirname(target)
    if (parent !== made) mkdirSync(parent, { recursive: true })
    made = parent
    makeFile(target)
  }
  writeFileSync(stamp, '')
}

/** A sparse file occupies no disk blocks. */
function makeFile(target: string): void {
  const descriptor = openSync(target, 'w')
  ftruncateSync(descriptor, FILE_BYTES)
  futimesSync(descriptor, RECORDED_AT, RECORDED_AT)
  closeSync(descriptor)
}

/**
 * Writes an index file for every recording into `indexes`, as if each had been inspected, unless
 * they are there.
 */
export async function ensureIndexes(
  indexes: string,
  { folder, size }: { folder: string; size: TreeSize },
): Promise<void> {
  const stamp = `${indexes}.made`
  if (existsSync(stamp)) return
  console.error('Making their indexes, once')
  const { inspection } = await inspectRecording(MODEL, {
    storage: createFolderStorage(MEDIA),
    readers: createMediaReaders(),
    signal: new AbortController().signal,
  })
  const indexFiles = new IndexFiles(indexes)
  const paths = treePaths(size)
  const write = async (): Promise<void> => {
    for (const file of paths) {
      const stat = fileStat(statSync(path.join(folder, file)))
      await indexFiles.write(file, { inspection, stat })
    }
  }
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write))
  writeFileSync(stamp, '')
}

/** Name of the streamer with a number, as used in paths. */
export function streamerName(number: number): string {
  return `streamer-${String(number).padStart(5, '0')}`
}

function* treePaths({ streamers, dates, files }: TreeSize): Generator<string> {
  for (let streamer = 0; streamer < streamers; streamer += 1) {
    for (let date = 0; date < dates; date += 1) {
      const day = new Date(Date.UTC(2025, 0, 1 + date)).toISOString().slice(0, 10)
      for (let file = 0; file < files; file += 1) {
        yield `${streamerName(streamer)}/${day}/${1000 + file}.mp4`
      }
    }
  }
}
