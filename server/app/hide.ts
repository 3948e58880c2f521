// `aftercast hide` and `aftercast unhide`: remove a streamer or session from the site, and restore
// it.
import { join } from 'node:path'
import { openDatabase } from '../catalog/store/database.ts'
import { createHiddenNames } from '../catalog/store/hidden.ts'
import type { HiddenName, HiddenNames } from '../catalog/store/hidden.ts'
import type { Config } from '../config/load-config.ts'
import type { Io } from './io.ts'
import { CATALOG_FILE } from './library.ts'
import { printable } from './printable.ts'

/**
 * Hides a name, known or not; returns the exit code 0. Takes effect in a running server at once.
 */
export function hide(config: Config, name: HiddenName, io: Io): number {
  return withHiddenNames(config, (names) => {
    const text = formatName(name)
    if (!names.isKnown(name)) {
      io.stderr(`note: ${text} is not in ${config.data} yet; it will be hidden when it appears`)
    }
    const isNew = names.hide(name)
    io.stdout(isNew ? `${text} is hidden` : `${text} was already hidden`)
    return 0
  })
}

/** Shows a name again; returns the exit code 0. */
export function unhide(config: Config, name: HiddenName, io: Io): number {
  return withHiddenNames(config, (names) => {
    const text = formatName(name)
    io.stdout(names.unhide(name) ? `${text} is visible again` : `${text} was not hidden`)
    return 0
  })
}

/**
 * Prints the hidden names, one per line in the form that `unhide` takes; returns the exit code 0.
 */
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
