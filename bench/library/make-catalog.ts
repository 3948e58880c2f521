// A data folder whose catalog lists every recording of a generated library as indexed.
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Sqlite from 'better-sqlite3'
import { CATALOG_FILE } from '../../server/app/library.ts'
import { createCatalogWriter } from '../../server/library/catalog/store/catalog-writer.ts'
import { openDatabase } from '../../server/library/catalog/store/database.ts'
import { createLayout } from '../../server/library/catalog/names/layout.ts'
import { walkLibrary } from '../../server/library/catalog/scan/walk.ts'
import { createFolderStorage } from '../../server/storage/recordings/folder/folder-storage.ts'

const LAYOUT = '{streamer}/{date}/{sessionId}'

/**
 * Walks the library as the program does, then writes down lengths as if each recording had been
 * read.
 */
export async function ensureCatalog(folder: string, data: string): Promise<void> {
  const stamp = `${data}.made`
  if (existsSync(stamp)) return
  console.error('Making the catalog, once')
  const file = path.join(data, CATALOG_FILE)
  const database = openDatabase({ path: file, mode: 'write' })
  const layout = createLayout(LAYOUT)
  const writer = createCatalogWriter(database)
  writer.useLayout(layout.identity)
  const options = {
    storage: createFolderStorage(folder),
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
