import Sqlite from 'better-sqlite3'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../base/config/load-config.ts'
import { migrate } from '../library/catalog/store/migrations.ts'
import { refuseOtherCatalog } from './catalog-owner.ts'
import { makeTempFolder } from '../../test/support/temp-folder.ts'

/** The steps of a release that stored no location. */
const OLDER_STEPS = 6
const HERE = { kind: 'folder', path: '/recordings' } as const

let data: string

beforeEach(() => {
  data = makeTempFolder('owner')
})

/** A catalog of a release with so many steps; `all` for this one. */
function makeCatalog(steps: number | undefined, statements: string): void {
  const sqlite = new Sqlite(join(data, 'catalog.sqlite'))
  sqlite.pragma('journal_mode = WAL')
  migrate(sqlite, steps)
  sqlite.exec(`
    INSERT INTO folders (id, path) VALUES (1, 'alice');
    INSERT INTO streamers (id, name, recording_count) VALUES (1, 'alice', 1);
    INSERT INTO recordings (folder_id, name, streamer_id, date, session_id, kind, rank, size_bytes,
      modified_ms, status, flawed, listed, settles_at_ms, retry_at_ms, rest_until_ms, attempts)
    VALUES (1, '1.ts', 1, '2026-01-31', '1', 'file', 0, 1, 1, 'found', 0, 1, 0, 0, 0, 0);
    ${statements}`)
  sqlite.close()
}

async function refuse(): Promise<void> {
  const config = loadConfig({ flags: { data }, environment: {}, workingFolder: data, cpuCount: 1 })
  await refuseOtherCatalog(config, HERE, join(data, 'demo-library'))
}

function describeFiles(): string[] {
  const hash = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(data, name)))
      .digest('hex')
  return readdirSync(data).map((name) => `${name} ${hash(name)}`)
}

test.each([
  {
    of: 'an older release',
    steps: OLDER_STEPS,
    statements: `UPDATE library SET layout = 'other'`,
    message: 'another layout',
  },
  {
    of: 'other recordings',
    steps: undefined,
    statements: `UPDATE library SET location = '/other'`,
    message: 'of /other',
  },
])('refuses a catalog of $of, which stays as it is', async ({ steps, statements, message }) => {
  makeCatalog(steps, statements)
  const before = describeFiles()
  await expect(refuse()).rejects.toThrow(message)
  expect(describeFiles()).toEqual(before)
})

test('accepts a catalog of an older release that may be of these recordings', async () => {
  makeCatalog(OLDER_STEPS, '')
  await expect(refuse()).resolves.toBeUndefined()
  rmSync(join(data, 'catalog.sqlite'))
  new Sqlite(join(data, 'catalog.sqlite')).exec('VACUUM').close()
  await expect(refuse()).resolves.toBeUndefined()
})
