// `aftercast hide` and `aftercast unhide`: take a streamer or a session off the site by name, and put it back.
import { join } from 'node:path'
import { openDatabase } from '../catalog/store/database.ts'
import { createHiddenNames } from '../catalog/store/hidden.ts'
import type { HiddenName, HiddenNames } from '../catalog/store/hidden.ts'
import type { Config } from '../config/load-config.ts'
import type { Io } from './io.ts'
import { CATALOG_FILE } from './library.ts'
import { printable } from './printable.ts'

/** Hides a name, be it known or not, and answers the exit code: 0. A server that runs heeds it at once. */
export function hide(config: Config, name: HiddenName, io: Io): number {
  return withHiddenNames(config, (names) => {
    const text = formatName(name)
    if (!names.isKnown(name)) {
      io.stderr(`note: ${text} is not known in ${config.data} yet; it is hidden if it comes`)
    }
    const isNew = names.hide(name)
    io.stdout(isNew ? `${text} is hidden` : `${text} was hidden already`)
    return 0
  })
}

/** Shows a name again, and answers the exit code: 0. */
export function unhide(config: Config, name: HiddenName, io: Io): number {
  return withHiddenNames(config, (names) => {
    const text = formatName(name)
    io.stdout(names.unhide(name) ? `${text} is shown again` : `${text} was not hidden`)
    return 0
  })
}

/** Lists what is hidden, one name a line, as `unhide` takes it; answers the exit code: 0. */
export function listHidden(config: Config, io: Io): number {
  return withHiddenNames(config, (names) => {
    for (const name of names.list()) io.stdout(formatName(name))
    return 0
  })
}

function withHiddenNames(config: Config, work: (names: HiddenNames) => number): number {
  const database = openDatabase({ path: join(config.data, CATALOG_FILE), mode: 'write' })
  try {
    return work(createHiddenNames(database))
  } finally {
    database.close()
  }
}

function formatName(name: HiddenName): string {
  if (name.kind === 'streamer') return printable(name.streamer)
  return printable(`${name.streamer}/${name.date}/${name.sessionId}`)
}
