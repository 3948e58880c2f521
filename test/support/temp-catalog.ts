// A catalog in a temporary folder, beside an empty library folder.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Catalog } from '../../server/library/catalog/catalog.ts'
import type { FoundRecording } from '../../server/library/catalog/store/catalog-writer.ts'
import { openDatabase } from '../../server/library/catalog/store/database.ts'
import type { Database } from '../../server/library/catalog/store/database.ts'
import { createCatalog } from '../../server/library/catalog/store/sqlite-catalog.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { afterTests } from './after-tests.ts'
import { makeTempFolder } from './temp-folder.ts'

export interface TempCatalog {
  /** Of the catalog. */
  file: string
  /** Folder of recordings. */
  root: string
  /** Open for writing until the tests of the file have ended. */
  database: Database
  catalog: Catalog
  /** Writes a file of the library. */
  put: (libraryPath: string, content?: string) => void
}

export function createTempCatalog(name: string): TempCatalog {
  const folder = makeTempFolder(name)
  const root = path.join(folder, 'library')
  mkdirSync(root)
  const file = path.join(folder, 'data', 'catalog.sqlite')
  const database = openDatabase({ path: file, mode: 'write' })
  afterTests(() => database.close())
  return {
    file,
    root,
    database,
    catalog: createCatalog(database),
    put(libraryPath, content = 'x') {
      const target = path.join(root, libraryPath)
      mkdirSync(path.dirname(target), { recursive: true })
      writeFileSync(target, content)
    },
  }
}

/** A recording of a byte that a scan has found, in the default layout. */
export function foundRecording(session: SessionReference, modifiedMs = 1): FoundRecording {
  return {
    folder: `${session.streamer}/${session.date}`,
    name: `${session.sessionId}.mp4`,
    kind: 'file',
    stat: { sizeBytes: 1, modifiedMs, version: '1' },
    match: { session, rank: 0 },
    settlesAtMs: 0,
  }
}
