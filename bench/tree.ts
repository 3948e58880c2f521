// Makes libraries of very many recordings of a few bytes each, and catalogs that list all of them
// as indexed.
import {
  closeSync,
  existsSync,
  ftruncateSync,
  futimesSync,
  mkdirSync,
  openSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import Sqlite from 'better-sqlite3'
import { CATALOG_FILE } from '../server/app/library.ts'
import { createLayout } from '../server/library/catalog/names/layout.ts'
import { walkLibrary } from '../server/library/catalog/scan/walk.ts'
import { CatalogWriter } from '../server/library/catalog/store/catalog-writer.ts'
import { openDatabase } from '../server/library/catalog/store/database.ts'
import { FolderStorage } from '../server/storage/recordings/folder/folder-storage.ts'
import { RECORDED_AT } from '../test/support/temp-library.ts'
import type { Bench } from './harness.ts'

/** How large a made library is: every streamer has as many dates, every date as many files. */
export interface TreeSize {
  streamers: number
  dates: number
  files: number
}

const LAYOUT = '{streamer}/{date}/{sessionId}'
const FILE_BYTES = 8
/** A million sessions. */
const MILLION: TreeSize = { streamers: 10_000, dates: 2, files: 50 }
const SMOKE: TreeSize = { streamers: 20, dates: 2, files: 5 }

export interface MillionSessions {
  recordings: string
  data: string
  size: TreeSize
}

/** The library and the data folder of a million sessions, cached; in smoke runs, a few. */
export async function ensureMillion({ options }: Bench): Promise<MillionSessions> {
  const size = options.isSmoke ? SMOKE : MILLION
  const recordings = path.join(options.cache, `catalog-${size.streamers}`)
  const data = `${recordings}-data`
  ensureTree(recordings, size)
  await ensureCatalog(recordings, data)
  return { recordings, data, size }
}

/** Makes the library unless it is complete, of sparse files that occupy no disk blocks. */
function ensureTree(folder: string, size: TreeSize): void {
  const stamp = `${folder}.made`
  if (existsSync(stamp)) return
  console.error(`Making ${size.streamers * size.dates * size.files} recordings, once`)
  for (const file of treePaths(size)) {
    const target = path.join(folder, file)
    mkdirSync(path.dirname(target), { recursive: true })
    const descriptor = openSync(target, 'w')
    ftruncateSync(descriptor, FILE_BYTES)
    futimesSync(descriptor, RECORDED_AT, RECORDED_AT)
    closeSync(descriptor)
  }
  writeFileSync(stamp, '')
}

/**
 * Walks the library as the program does, then writes down lengths as if each recording had been
 * read.
 */
async function ensureCatalog(folder: string, data: string): Promise<void> {
  const stamp = `${data}.made`
  if (existsSync(stamp)) return
  console.error('Making the catalog, once')
  const file = path.join(data, CATALOG_FILE)
  const database = openDatabase({ path: file, mode: 'write' })
  const layout = createLayout(LAYOUT)
  const writer = new CatalogWriter(database)
  writer.useLayout(layout.identity)
  const options = {
    storage: new FolderStorage(folder),
    layout,
    writer,
    settleMs: 0,
    mayBeEmpty: false,
    now: Date.now,
    onFolderError: (_folder: string, error: unknown) => {
      throw error
    },
  }
  await walkLibrary('', options, new AbortController().signal)
  database.close()
  const sqlite = new Sqlite(file)
  sqlite.exec(`UPDATE recordings SET status = 'playable', duration_seconds = 60 + id % 36000`)
  sqlite.close()
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
