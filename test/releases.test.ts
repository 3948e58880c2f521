// Upgrades from each release: what its program has left in a data folder and in a database is
// migrated, and nothing of it is lost (test/fixtures/releases).
import Sqlite from 'better-sqlite3'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { extract } from 'tar'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { openDatabase } from '../server/library/catalog/store/database.ts'
import { migrateSharedDatabase } from '../server/cluster/postgres/migrations.ts'
import { openSharedDatabase } from '../server/cluster/postgres/shared-database.ts'
import { playlistApiPath, sessionsApiPath } from '../shared/paths.ts'
import {
  GROWN,
  hashOf,
  HIDDEN_NAMES,
  LARGE,
  placeReleaseLibrary,
  PLAYS,
  readImmutable,
  saidResponses,
  WATCHED,
} from './support/make/release-library.ts'
import { fetchAvailable, fetchPlaylist } from './support/servers/hls-client.ts'
import { queryOnce, sharedPostgres } from './support/servers/postgres.ts'
import { runInProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const FIXTURES = path.join(import.meta.dirname, 'fixtures/releases')
const RELEASES = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.tar.gz'))
  .map((name) => name.replace('.tar.gz', ''))
const ARE_CLUSTERS = RELEASES.filter((name) => name.includes('cluster'))

const stops: (() => Promise<unknown>)[] = []

afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

/** A site as its release has left it. */
interface Site {
  library: TempLibrary
  database: string | undefined
  said: Readonly<Record<string, string>>
}

async function createSite(release: string): Promise<Site> {
  const library = await createTempLibrary('upgrade')
  stops.push(async () => library.remove())
  await placeReleaseLibrary(library, 'finished')
  await extract({ file: path.join(FIXTURES, `${release}.tar.gz`), cwd: library.folder })
  const said = saidResponses.parse(
    JSON.parse(await readFile(path.join(library.folder, 'said.json'), 'utf8')),
  )
  const dump = path.join(library.folder, 'database.dump')
  const database = existsSync(dump) ? await restore(await readFile(dump)) : undefined
  placeHere(library)
  return { library, database, said }
}

async function restore(dump: Buffer): Promise<string> {
  const postgres = await sharedPostgres(inject('postgresFolder'))
  const database = await postgres.createDatabase()
  await postgres.restore(database, dump)
  // Statistics have a period.
  await queryOnce(
    database,
    `UPDATE aftercast.daily_counts SET day = to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  )
  return database
}

/** The recordings are in another folder now, and the views of today. */
function placeHere(library: TempLibrary): void {
  const catalog = new Sqlite(catalogOf(library))
  const columns = catalog.pragma('table_info(library)')
  if (JSON.stringify(columns).includes('"location"')) {
    catalog.prepare('UPDATE library SET location = ?').run(library.recordings)
  }
  catalog.close()
  const counters = new Sqlite(path.join(library.data, 'analytics.sqlite'))
  counters.exec(`UPDATE daily_counts SET day = date('now')`)
  counters.close()
}

function catalogOf({ data }: TempLibrary): string {
  return path.join(data, 'catalog.sqlite')
}

/** Type, name and statement of all that a catalog consists of. */
function schemaOf(file: string): unknown[] {
  const sqlite = new Sqlite(file, { readonly: true })
  const query = 'SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name'
  const rows = sqlite.prepare<[], { sql: string | null }>(query).all()
  sqlite.close()
  return rows.map((row) => ({ ...row, sql: row.sql?.replaceAll(/\s+/g, ' ') }))
}

function stepOf(file: string): number {
  const sqlite = new Sqlite(file, { readonly: true })
  const step = sqlite.prepare('SELECT max(number) FROM migrations').pluck().get()
  sqlite.close()
  return Number(step)
}

/** The rows of all tables of a catalog. */
function contentOf(file: string): Record<string, unknown[]> {
  const sqlite = new Sqlite(file, { readonly: true })
  const names = sqlite.prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'table'`)
  const content = names
    .pluck()
    .all()
    .map((name) => [name, sqlite.prepare(`SELECT * FROM ${name}`).all()] as const)
  sqlite.close()
  return Object.fromEntries(content)
}

/** Hashes of all files below a folder. */
function filesOf(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {}
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [path.join(parentPath, name), bytesHash(parentPath, name)]),
  )
}

function bytesHash(...file: string[]): string {
  return createHash('sha256')
    .update(readFileSync(path.join(...file)))
    .digest('hex')
}

/** Columns, indexes, constraints, triggers and functions of the shared database, by name. */
async function sharedSchemaOf(url: string): Promise<Map<string, string>> {
  const rows = await queryOnce(
    url,
    `SELECT 'column ' || table_name || '.' || column_name AS name,
       concat_ws(' ', data_type, collation_name, is_nullable, column_default, identity_generation)
         AS is
     FROM information_schema.columns WHERE table_schema = 'aftercast'
     UNION SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'aftercast'
     UNION SELECT 'constraint ' || conrelid::regclass || ' ' || conname, pg_get_constraintdef(oid)
       FROM pg_constraint WHERE connamespace = 'aftercast'::regnamespace
     UNION SELECT 'trigger ' || tgname, pg_get_triggerdef(oid)
       FROM pg_trigger WHERE NOT tgisinternal
     UNION SELECT 'function ' || proname, prosrc
       FROM pg_proc WHERE pronamespace = 'aftercast'::regnamespace`,
  )
  const named = z.array(z.object({ name: z.string(), is: z.string() })).parse(rows)
  return new Map(named.map(({ name, is }) => [name, is]))
}

async function run(args: string[], { library, database }: Site): Promise<ProgramOutcome> {
  return runInProcess([...args, '--data', library.data], {
    workingFolder: library.folder,
    environment: {
      AFTERCAST_LOG_LEVEL: 'warn',
      ...(database !== undefined && { AFTERCAST_DATABASE_URL: database }),
    },
  })
}

async function freshCatalog({ folder }: TempLibrary): Promise<string> {
  const fresh = path.join(folder, 'fresh.sqlite')
  openDatabase({ path: fresh, mode: 'write' }).close()
  return fresh
}

describe.each(RELEASES)('after an upgrade from %s', (release) => {
  let site: Site
  let server: StartedServer
  let step: number
  let content: Record<string, unknown[]>
  let secret: string
  let served: Record<string, string>

  beforeAll(async () => {
    site = await createSite(release)
    const { library, database } = site
    step = stepOf(catalogOf(library))
    content = contentOf(catalogOf(library))
    secret = await readFile(path.join(library.data, 'hls-secret'), 'utf8')
    served = filesOf(path.join(library.data, 'indexes/served'))
    const environment = { AFTERCAST_WORKERS: '1', AFTERCAST_DATABASE_URL: database }
    server = await startServer({ args: library.args, environment })
    stops.push(async () => server.stop())
  })

  const statusOf = async (target: string): Promise<number> =>
    (await fetchAvailable(server.url + target)).status

  it('no URL has other bytes, and no hidden name is visible', async () => {
    for (const session of [WATCHED, LARGE, GROWN]) {
      await expect.poll(async () => statusOf(playlistApiPath(session))).toBe(200)
      // Each URL of the playlist works, those of before among them.
      await readImmutable(server, session)
    }
    const { same, changed } = await compareWithSaid(server, site.said)
    expect(changed).toEqual([])
    // The format of indexes is newer than each of these releases: none of their URLs is kept.
    expect(same).toBe(0)
    // Only a recording that was listed while it was growing has this type.
    const grown = await fetchPlaylist(server.url + playlistApiPath(GROWN))
    expect(grown.text).toContain('#EXT-X-PLAYLIST-TYPE:EVENT')
    expect(grown.isEnded).toBe(true)
    expect(await statusOf(playlistApiPath({ ...WATCHED, sessionId: '2' }))).toBe(410)
    expect(await statusOf(sessionsApiPath('bob'))).toBe(410)
  })

  it('schema, hidden names, counters, secret and identities are there', async () => {
    await server.stop()
    const { library } = site
    expect(schemaOf(catalogOf(library))).toEqual(schemaOf(await freshCatalog(library)))
    expect((await run(['hide', '--list'], site)).stdout).toBe(`${HIDDEN_NAMES.join('\n')}\n`)
    const stats: unknown = JSON.parse((await run(['stats', '--json'], site)).stdout)
    expect(stats).toMatchObject({ sessions: [{ ...WATCHED, plays: PLAYS }] })
    expect(await readFile(path.join(library.data, 'hls-secret'), 'utf8')).toBe(secret)
    expect(await sharedSecrets(site)).toEqual(site.database === undefined ? [] : [secret.trim()])
    // No identity has a second record: it would be another one.
    const now = filesOf(path.join(library.data, 'indexes/served'))
    expect(now).toMatchObject(served)
    expect(Object.keys(now)).toHaveLength(1)
  })

  it('a copy has the catalog of before, and the log names it', () => {
    const { library } = site
    const isMigrated = step < stepOf(catalogOf(library))
    const copy = `catalog.sqlite.before-${step + 1}`
    const copies = readdirSync(library.data).filter((name) => name.includes('.before-'))
    expect(copies).toEqual(isMigrated ? [copy] : [])
    expect(server.output().split(copy)).toHaveLength(isMigrated ? 2 : 1)
    const before = copies.map((name) => contentOf(path.join(library.data, name)))
    expect(before).toEqual(copies.map(() => content))
  })
})

/** How many URLs have the bytes of before, and which have others. Others may be gone. */
async function compareWithSaid(
  { url }: StartedServer,
  said: Site['said'],
): Promise<{ same: number; changed: string[] }> {
  const outcome = { same: 0, changed: [] as string[] }
  for (const [target, hash] of Object.entries(said)) {
    const response = await fetchAvailable(url + target)
    const isSame = (await hashOf(response)) === hash
    if (response.status !== 200) continue
    if (isSame) outcome.same += 1
    else outcome.changed.push(target)
  }
  return outcome
}

async function sharedSecrets({ database }: Site): Promise<unknown[]> {
  if (database === undefined) return []
  const rows = await queryOnce(database, 'SELECT secret FROM aftercast.library')
  return rows.flatMap((row) => Object.values(Object(row)))
}

/** Of the name of a column. */
function tableOf(name: string): string | undefined {
  return name.startsWith('column ') ? name.split('.')[0] : undefined
}

describe.each(ARE_CLUSTERS)('the database of %s', (release) => {
  it('is migrated to the schema of a new one, and only extended', async () => {
    const { database } = await createSite(release)
    if (database === undefined) throw new Error('it has no database')
    const empty = await (await sharedPostgres(inject('postgresFolder'))).createDatabase()
    const before = await sharedSchemaOf(database)
    for (const url of [database, empty]) {
      const shared = openSharedDatabase(url, () => undefined)
      await migrateSharedDatabase(shared)
      await shared.destroy()
    }
    const after = await sharedSchemaOf(database)
    expect(after).toEqual(await sharedSchemaOf(empty))
    // Nodes of that release continue: they find what they know, and need not know what is new.
    expect(Object.fromEntries(after)).toMatchObject(Object.fromEntries(before))
    const tables = new Set([...before.keys()].map(tableOf))
    const required = [...after].filter(
      ([name, is]) => !before.has(name) && tables.has(tableOf(name)) && is.endsWith(' NO'),
    )
    expect(required).toEqual([])
  })
})

describe('a data folder of a newer release', () => {
  it('is refused with what to do, and has not changed', async () => {
    const library = await createTempLibrary('newer')
    stops.push(async () => library.remove())
    await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
    const site = { library, database: undefined, said: {} }
    expect((await run(['scan', library.recordings], site)).code).toBe(0)
    const catalog = new Sqlite(catalogOf(library))
    catalog.exec('INSERT INTO migrations SELECT max(number) + 1 FROM migrations')
    catalog.close()
    const bytes = await readFile(catalogOf(library))
    const stderr =
      'aftercast: data: the catalog is of a newer release: install that one, or put the copy ' +
      'from before the upgrade in its place (docs/deploy/upgrade.md)\n'
    for (const args of [
      ['serve', library.recordings, '--port', '0'],
      ['scan', library.recordings],
      ['scan', library.recordings, '--rebuild'],
      ['hide', 'alice'],
    ]) {
      expect(await run(args, site)).toEqual({ code: 1, stdout: '', stderr })
      expect(await readFile(catalogOf(library))).toEqual(bytes)
    }
    const archive = path.join(library.folder, 'newer.tar')
    expect((await run(['backup', archive], site)).code).toBe(0)
    const restored = path.join(library.folder, 'restored')
    const restore = ['restore', archive, '--data', restored]
    const outcome = await runInProcess(restore, { workingFolder: library.folder })
    expect(outcome).toEqual({ code: 1, stdout: '', stderr })
    expect(readdirSync(restored)).toEqual(['lock.sqlite'])
  })
})

const SERVERS = [
  ['serve', 'recordings', '--port', '0'],
  ['scan', 'recordings'],
]
const COMMANDS = [['hide', 'alice'], ['hide', '--list'], ['stats']]

describe.each([
  {
    release: 'a newer release',
    change: 'INSERT INTO aftercast.migrations SELECT max(number) + 1 FROM aftercast.migrations',
    refused: [...SERVERS, ...COMMANDS],
    reason:
      'it is of a newer release: install that one, or restore the dump from before the upgrade ' +
      '(docs/deploy/upgrade.md)',
  },
  {
    // Servers migrate it; nodes of that release could not start again.
    release: 'an older release',
    change: `DELETE FROM aftercast.migrations
      WHERE number = (SELECT max(number) FROM aftercast.migrations)`,
    refused: COMMANDS,
    reason: 'it is not migrated yet: start a server with this release first',
  },
])('a database of $release', ({ change, refused, reason }) => {
  it('is refused with what to do, and has not changed', async () => {
    const postgres = await sharedPostgres(inject('postgresFolder'))
    const database = await postgres.createDatabase()
    const library = await createTempLibrary('other-database')
    stops.push(async () => library.remove())
    await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
    const site = { library, database, said: {} }
    expect((await run(['scan', library.recordings], site)).code).toBe(0)
    await queryOnce(database, change)
    const before = await contentOfDatabase(database)
    for (const args of refused) {
      const words = args.map((word) => (word === 'recordings' ? library.recordings : word))
      const stderr = `aftercast: database: ${reason}\n`
      expect(await run(words, site)).toEqual({ code: 1, stdout: '', stderr })
    }
    expect(await contentOfDatabase(database)).toEqual(before)
  })
})

/** All rows, as one XML document for each schema. */
async function contentOfDatabase(url: string): Promise<unknown[]> {
  return queryOnce(
    url,
    `SELECT schema_to_xml_and_xmlschema('aftercast', true, false, '')::text AS rows`,
  )
}
