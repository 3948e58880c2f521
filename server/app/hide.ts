// `aftercast hide` and `aftercast unhide`: remove a streamer or session from the site, and restore
// it.
import { join } from 'node:path'
import { openDatabase } from '../catalog/store/database.ts'
import { createHiddenNames } from '../catalog/store/hidden.ts'
import type { HiddenName, HiddenNames } from '../catalog/store/hidden.ts'
import { openReplica } from '../catalog/store/replica.ts'
import type { Config } from '../config/load-config.ts'
import { AppError } from '../errors.ts'
import type { Io } from './io.ts'
import { CATALOG_FILE } from './library.ts'
import { printable } from './printable.ts'

/**
 * Hides a name, known or not; returns the exit code 0. Takes effect in running servers at once, in
 * a cluster within a second or two.
 */
export async function hide(config: Config, name: HiddenName, io: Io): Promise<number> {
  return withHiddenNames(config, async (names) => {
    const text = formatName(name)
    if (!(await names.isKnown(name))) {
      const where = config.database === undefined ? config.data : 'the database'
      io.stderr(`note: ${text} is not in ${where} yet; it will be hidden when it appears`)
    }
    const isNew = await names.hide(name)
    io.stdout(isNew ? `${text} is hidden` : `${text} was already hidden`)
    return 0
  })
}

/** Shows a name again; returns the exit code 0. */
export async function unhide(config: Config, name: HiddenName, io: Io): Promise<number> {
  return withHiddenNames(config, async (names) => {
    const text = formatName(name)
    io.stdout((await names.unhide(name)) ? `${text} is visible again` : `${text} was not hidden`)
    return 0
  })
}

/**
 * Prints the hidden names, one per line in the form that `unhide` takes; returns the exit code 0.
 */
export async function listHidden(config: Config, io: Io): Promise<number> {
  return withHiddenNames(config, async (names) => {
    for (const name of await names.list()) io.stdout(formatName(name))
    return 0
  })
}

/** Hidden names of this node, or of all nodes. */
type Names = {
  [Method in keyof HiddenNames]: (
    ...parameters: Parameters<HiddenNames[Method]>
  ) => ReturnType<HiddenNames[Method]> | Promise<ReturnType<HiddenNames[Method]>>
}

async function withHiddenNames(
  config: Config,
  work: (names: Names) => Promise<number>,
): Promise<number> {
  if (config.database !== undefined) {
    const { withSharedDatabase } = await import('./shared-database.ts')
    const { sharedHiddenNames } = await import('./shared-hidden-names.ts')
    return withSharedDatabase(config.database, async (database) =>
      work(sharedHiddenNames(database)),
    )
  }
  const path = join(config.data, CATALOG_FILE)
  const database = openDatabase({ path, mode: 'write', replica: 'follow' })
  try {
    if (openReplica(database).state() !== undefined) throw isReplica(config)
    return await work(createHiddenNames(database))
  } finally {
    database.close()
  }
}

/** Its names would be replaced with those of the shared database. */
function isReplica({ data }: Config): AppError {
  return new AppError('usage', `database: ${data} belongs to a cluster, but none is configured`)
}

function formatName(name: HiddenName): string {
  if (name.kind === 'streamer') return printable(name.streamer)
  return printable(`${name.streamer}/${name.date}/${name.sessionId}`)
}
