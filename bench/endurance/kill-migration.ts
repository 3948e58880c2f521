// Kills while the catalog of the first version is migrated: no row is lost.
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import Sqlite from 'better-sqlite3'
import { CATALOG_FILE } from '../../server/app/library.ts'
import { migrate } from '../../server/library/catalog/store/migrations.ts'
import { ensureCatalog } from '../library/make-catalog.ts'
import { ensureTree } from '../library/make-tree.ts'
import { listSessions } from './kill-library.ts'
import type { OpenScene } from './kill-scene.ts'

const SIZE = { streamers: 20, dates: 20, files: 25 }
const SMOKE_SIZE = { streamers: 2, dates: 2, files: 25 }
/** A start with a migration; kills at any moment of it. */
const KILL_WITHIN_MS = 1200
const TABLES = ['streamers', 'folders', 'recordings']

export const openMigration: OpenScene = async (folder, { isSmoke }) => {
  const library = path.join(folder, 'library')
  const data = path.join(folder, 'data')
  const current = path.join(folder, 'current')
  const old = path.join(folder, 'old')
  const size = isSmoke ? SMOKE_SIZE : SIZE
  ensureTree(library, size)
  await ensureCatalog(library, current)
  writeFirstVersion(path.join(current, CATALOG_FILE), old)
  const count = size.streamers * size.dates * size.files

  return {
    args: [library, '--data', data],
    killWithinMs: KILL_WITHIN_MS,
    killAfter: 'start',

    async prepare() {
      rmSync(data, { recursive: true, force: true })
      cpSync(old, data, { recursive: true })
    },

    use: async () => undefined,

    async check({ url }) {
      const { durations, faults } = await listSessions(url)
      if (durations.size !== count) faults.push(`${durations.size} sessions of ${count}`)
      const unknown = [...durations.values()].filter((duration) => duration === undefined)
      if (unknown.length > 0) faults.push(`${unknown.length} durations are lost`)
      return [...faults, ...checkDatabase(path.join(data, CATALOG_FILE))]
    },
  }
}

/** The rows of the catalog in a new one of the first version. */
function writeFirstVersion(file: string, folder: string): void {
  mkdirSync(folder)
  const sqlite = new Sqlite(path.join(folder, CATALOG_FILE))
  migrate(sqlite, 1)
  sqlite.prepare('ATTACH ? AS now').run(file)
  sqlite.exec('UPDATE library SET layout = (SELECT layout FROM now.library)')
  for (const table of TABLES) {
    const columns = sqlite.pragma(`main.table_info(${table})`) as { name: string }[]
    const names = columns.map(({ name }) => name).join(', ')
    sqlite.exec(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM now.${table}`)
  }
  sqlite.close()
}

function checkDatabase(file: string): string[] {
  const sqlite = new Sqlite(file, { readonly: true })
  try {
    const integrity = sqlite.pragma('integrity_check', { simple: true })
    const strangers = sqlite.pragma('foreign_key_check') as unknown[]
    return [
      ...(integrity === 'ok' ? [] : [`the catalog: ${String(integrity)}`]),
      ...(strangers.length === 0 ? [] : [`${strangers.length} rows without a parent`]),
    ]
  } finally {
    sqlite.close()
  }
}
