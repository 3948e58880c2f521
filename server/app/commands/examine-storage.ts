// What the configuration names: data folder, recordings, artifacts, database.
import { access, constants, mkdtemp, open, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { formatDatabase } from '../../base/config/database-url.ts'
import type { Config } from '../../base/config/load-config.ts'
import { codeOf, isAppError, reasonOf } from '../../base/errors.ts'
import { describeProblem } from '../../cluster/postgres/connection-problem.ts'
import { openSharedDatabase } from '../../cluster/postgres/shared-database.ts'
import type { SharedDatabase } from '../../cluster/postgres/shared-database.ts'
import { sql } from '../../cluster/postgres/sql.ts'
import { createLayout } from '../../library/catalog/names/layout.ts'
import { checkArtifacts } from '../../storage/artifacts/open-artifacts.ts'
import { checkLocation, createStorage } from '../../storage/recordings/create-storage.ts'
import type { Storage } from '../../storage/recordings/storage.ts'
import { locationName, parseLocation } from '../../storage/recordings/storage-location.ts'
import { refuseOtherCatalog } from '../catalog-owner.ts'
import { refuseInsideRecordings } from '../data-folder.ts'
import { DEMO_FOLDER } from '../recordings.ts'
import { failure, ok, warning } from './finding.ts'
import type { Finding } from './finding.ts'

const MIB = 1024 * 1024
const LEAST_FREE_BYTES = 64 * MIB
const WANTED_FREE_BYTES = 1024 * MIB
/** Catalog and indexes are written in pieces of this size, each waits for the disk. */
const PIECE_BYTES = 4096
const PIECES = 20
const SLOW_PIECE_MS = 50
/** Without a file in so many folders, none is read. */
const MAX_LISTED_FOLDERS = 100
/** Leases and activity of nodes compare times of the database with their own. */
const MAX_CLOCK_SKEW_MS = 2000
/** The oldest that the statements need (docs/cluster.md). */
const OLDEST_POSTGRES = 13

/** Makes nothing that stays; a folder that is missing is made by the server. */
export async function examineData({ data }: Config): Promise<Finding[]> {
  const folder = await nearestFolder(data)
  try {
    await access(folder, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = await statfs(folder)
    return [describeSpace(data, bavail * bsize), await measureDisk(folder)]
  } catch (error) {
    const remedy =
      codeOf(error) === 'ENOSPC'
        ? 'free some space and inodes'
        : 'run this as the user of the server, or name another folder with --data'
    return [failure(`data: ${data} cannot be written: ${reasonOf(error)}`, remedy)]
  }
}

async function nearestFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined)
  if (found !== undefined || dirname(folder) === folder) return folder
  return nearestFolder(dirname(folder))
}

function describeSpace(data: string, freeBytes: number): Finding {
  const free = `${Math.floor(freeBytes / MIB)} MiB are free`
  if (freeBytes < LEAST_FREE_BYTES) return failure(`data: ${free} for ${data}`, 'free some space')
  if (freeBytes < WANTED_FREE_BYTES) {
    return warning(`data: only ${free} for ${data}`, 'free some space: caches fill up to 2 GiB')
  }
  return ok(`data: ${data} can be written; ${free}`)
}

/** The median time until a small change is on the disk. */
async function measureDisk(folder: string): Promise<Finding> {
  const scratch = await mkdtemp(join(folder, '.doctor-'))
  try {
    await using file = await open(join(scratch, 'probe'), 'w')
    const times: number[] = []
    for (let piece = 0; piece < PIECES; piece += 1) {
      const startMs = performance.now()
      await file.write(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, piece * PIECE_BYTES)
      await file.datasync()
      times.push(performance.now() - startMs)
    }
    const median = times.toSorted((a, b) => a - b)[PIECES / 2] ?? 0
    const text = `data: a small write takes ${median.toFixed(1)} ms`
    if (median <= SLOW_PIECE_MS) return ok(text)
    return warning(`${text}, so scans and counters are slow`, 'name a folder on a local disk')
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** What `serve` refuses: another layout, recordings or data folder than those of the catalog. */
export async function examineCatalog(config: Config): Promise<Finding[]> {
  const { data, layout, recordings, s3 } = config
  if (recordings === undefined) return []
  try {
    const location = parseLocation(recordings, s3.pathStyle)
    createLayout(layout, locationName(location))
    await refuseInsideRecordings(config)
    await refuseOtherCatalog(config, location, join(data, DEMO_FOLDER))
    return []
  } catch (error) {
    if (!isAppError(error)) throw error
    // The message ends with the remedy.
    const end = error.message.lastIndexOf(': ')
    return [failure(error.message.slice(0, end), error.message.slice(end + 2))]
  }
}

/** Lists them, and reads a byte of one. */
export async function examineRecordings(
  { recordings, s3 }: Config,
  signal: AbortSignal,
): Promise<Finding> {
  if (recordings === undefined) {
    return warning('recordings: none are configured: the demo library is served', 'name a folder')
  }
  const place = `recordings: ${recordings}`
  try {
    const location = parseLocation(recordings, s3.pathStyle)
    await checkLocation(location, signal)
    const storage = await createStorage(location)
    const path = await findFile(storage, signal)
    if (path === undefined) return warning(`${place} has no files`, 'name the right folder')
    const file = await storage.open(path, { signal })
    await file.read(new Uint8Array(1), 0)
    await file.close()
    return ok(`${place} can be listed and read`)
  } catch (error) {
    const remedy = 'correct the place, the permissions or the credentials'
    return failure(`${place}: ${reasonOf(error)}`, remedy)
  }
}

async function findFile(storage: Storage, signal: AbortSignal): Promise<string | undefined> {
  const folders = ['']
  for (let listed = 0; listed < MAX_LISTED_FOLDERS; listed += 1) {
    const folder = folders.shift()
    if (folder === undefined) return undefined
    for (const { name, kind } of await storage.list(folder, { signal })) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (kind === 'file') return path
      folders.push(path)
    }
  }
  return undefined
}

export async function examineArtifacts(
  { artifacts, s3 }: Config,
  signal: AbortSignal,
): Promise<Finding[]> {
  if (artifacts === undefined) return []
  try {
    await checkArtifacts(parseLocation(artifacts, s3.pathStyle), signal)
    return [ok(`artifacts: ${artifacts} can be read and written`)]
  } catch (error) {
    const remedy = 'nodes need to list, read, write and delete there (docs/object-storage.md)'
    return [failure(`artifacts: ${artifacts}: ${reasonOf(error)}`, remedy)]
  }
}

const databaseShape = z.object({
  version: z.int(),
  mayCreate: z.boolean(),
  isStandby: z.boolean(),
  isSuperuser: z.boolean(),
  nowMs: z.number(),
})

/** Changes nothing there. */
export async function examineDatabase({ database: url }: Config): Promise<Finding[]> {
  if (url === undefined) return []
  const name = `database: ${formatDatabase(url)}`
  const database = openSharedDatabase(url, () => undefined)
  try {
    return await questionDatabase(database, name)
  } catch (error) {
    const { text } = describeProblem(error)
    return [failure(`${name}: ${text}`, 'correct the URL, or start the database')]
  } finally {
    await database.destroy()
  }
}

async function questionDatabase(database: SharedDatabase, name: string): Promise<Finding[]> {
  const { rows } = await sql`
    SELECT current_setting('server_version_num')::int / 10000 AS version,
      has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
      pg_is_in_recovery() AS "isStandby",
      current_setting('is_superuser') = 'on' AS "isSuperuser",
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"`.execute(database)
  const found = databaseShape.parse(rows[0])
  const skewMs = Math.abs(found.nowMs - Date.now())
  const findings: Finding[] = []
  if (found.version < OLDEST_POSTGRES) {
    const text = `${name} is PostgreSQL ${found.version}`
    findings.push(failure(text, `upgrade it to ${OLDEST_POSTGRES} or newer`))
  }
  if (found.isStandby) {
    findings.push(failure(`${name} is a standby, which is read-only`, 'name the primary server'))
  }
  if (!found.mayCreate) {
    findings.push(
      failure(`${name} refuses new schemas`, 'make this user its owner: ALTER DATABASE … OWNER TO'),
    )
  }
  if (found.isSuperuser) {
    findings.push(warning(`${name}: the user may do everything`, 'use one who owns this database'))
  }
  if (skewMs > MAX_CLOCK_SKEW_MS) {
    const text = `${name} has a clock that differs by ${Math.round(skewMs / 1000)} s`
    findings.push(warning(text, 'synchronise the clocks (NTP)'))
  }
  return findings.length > 0 ? findings : [ok(`${name} is PostgreSQL ${found.version}`)]
}
