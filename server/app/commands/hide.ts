// `aftercast hide` and `aftercast unhide`: remove a streamer, a session, or the messages of a user
// of chats from the site, and restore them.
import { join } from 'node:path'
import { closing } from '../../base/closing.ts'
import { openDatabase } from '../../library/catalog/store/database.ts'
import { nameOf } from '../../library/catalog/store/hidden.ts'
import type { HiddenName } from '../../library/catalog/store/hidden.ts'
import { createLoggedNames, lastRun } from '../../library/catalog/store/hide-log.ts'
import type { LoggedNames } from '../../library/catalog/store/hide-log.ts'
import { Replica } from '../../library/catalog/store/replica.ts'
import type { Config } from '../../base/config/load-config.ts'
import { formatDatabase } from '../../base/config/database-url.ts'
import { findNearNames } from '../../base/config/near-names.ts'
import { AppError } from '../../base/errors.ts'
import { requireCatalog } from '../data-folder.ts'
import type { HideChange, HideOlderOptions } from '../cli-values.ts'
import type { Io } from '../io.ts'
import { CATALOG_FILE } from '../library.ts'
import { countOf } from '../../../shared/count-of.ts'
import type { NameToHide } from '../../../shared/name-to-hide.ts'
import { printable } from '../../../shared/printable.ts'

export type UndoOptions = Pick<HideChange, 'reason'>

const DAY_MS = 86_400_000
const WHEN_IT_APPEARS = 'it will be hidden when it appears'
const OTHER_FOLDER = '; if the server has another data folder, name that with --data'

/**
 * Hides a name, known or not; returns the exit code 0. Takes effect in running servers at once, in
 * a cluster within a second or two.
 */
export async function hide(config: Config, { name, reason }: HideChange, io: Io): Promise<number> {
  const site = formatSite(config)
  return withHiddenNames(config, async (names) => {
    const text = describe(name)
    const sought = placeOf(name)
    const elsewhere = config.database === undefined ? OTHER_FOLDER : ''
    const absent = `${sought && formatName(sought)} is not in ${site} yet`
    const note = `${absent}; ${WHEN_IT_APPEARS}${elsewhere}`
    if (sought !== undefined) await noteUnknown(names, { name: sought, note }, io)
    const isNew = await names.hide(name, reason)
    io.stdout(isNew ? `${text} is hidden in ${site}` : `${text} was already hidden in ${site}`)
    return 0
  })
}

/**
 * Hides the sessions whose date is older, and prints each and the total; returns the exit code 0.
 * Sessions whose date is no day stay visible.
 */
export async function hideOlder(
  config: Config,
  { days, streamer, reason, isDryRun }: HideOlderOptions,
  io: Io,
): Promise<number> {
  const firstDay = new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
  const outcome = isDryRun ? 'would be hidden' : 'is hidden'
  return withHiddenNames(config, async (names) => {
    let total = 0
    for (const session of await names.before(firstDay)) {
      if (streamer !== undefined && session.streamer !== streamer.normalize('NFC')) continue
      const name: HiddenName = { kind: 'session', ...session }
      if (!isDryRun && !(await names.hide(name, reason))) continue
      total += 1
      io.stdout(`${formatName(name)} ${outcome}`)
    }
    if (streamer !== undefined) {
      const note = `${printable(streamer)} is not in ${formatSite(config)}`
      await noteUnknown(names, { name: { kind: 'streamer', streamer }, note }, io)
    }
    const all = `${total === 1 ? 'is' : 'are'} hidden`
    const sum = `${countOf(total, 'session')} ${isDryRun ? 'would be hidden' : all}`
    io.stdout(`${sum} in ${formatSite(config)}`)
    return 0
  })
}

/**
 * Shows the names again that the last run of `hide` hid, and prints each and the total; returns the
 * exit code 0.
 */
export async function undoHide(config: Config, { reason }: UndoOptions, io: Io): Promise<number> {
  return withHiddenNames(config, async (names) => {
    const run = lastRun(await names.log())
    for (const name of run) {
      if (await names.unhide(name, reason)) io.stdout(`${describe(name)} is visible again`)
    }
    const sum = `${countOf(run.length, 'name')} ${run.length === 1 ? 'is' : 'are'} visible again`
    io.stdout(`${sum} in ${formatSite(config)}`)
    return 0
  })
}

/** Shows a name again; returns the exit code 0. */
export async function unhide(
  config: Config,
  { name, reason }: HideChange,
  io: Io,
): Promise<number> {
  const site = formatSite(config)
  return withHiddenNames(config, async (names) => {
    const text = describe(name)
    const isShown = await names.unhide(name, reason)
    const meant = isShown ? '' : didYouMean(formatName(name), await names.list())
    io.stdout(`${text} ${isShown ? 'is visible again' : 'was not hidden'} in ${site}${meant}`)
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

/** Prints what was hidden and shown again, oldest first; returns the exit code 0. */
export async function printHideLog(config: Config, io: Io): Promise<number> {
  return withHiddenNames(config, async (names) => {
    for (const { atMs, action, reason, ...row } of await names.log()) {
      const at = new Date(atMs).toISOString().replace(/\.\d+/, '')
      const why = reason === '' ? '' : ` (${printable(reason)})`
      io.stdout(`${at} ${action} ${formatName(nameOf(row))}${why}`)
    }
    return 0
  })
}

/** Hidden names of this node, or of all nodes. */
type Names = {
  [Method in keyof LoggedNames]: (
    ...parameters: Parameters<LoggedNames[Method]>
  ) => ReturnType<LoggedNames[Method]> | Promise<ReturnType<LoggedNames[Method]>>
}

async function withHiddenNames(
  config: Config,
  work: (names: Names) => Promise<number>,
): Promise<number> {
  const startedMs = Date.now()
  /** One time for all changes of a run, by which they can be undone. */
  const now = (): number => startedMs
  if (config.database !== undefined) {
    const { withSharedDatabase } = await import('../cluster/connect-database.ts')
    const { sharedHiddenNames } = await import('../cluster/shared-hidden-names.ts')
    return withSharedDatabase(config.database, async (database) =>
      work(sharedHiddenNames(database, now)),
    )
  }
  requireCatalog(config)
  const path = join(config.data, CATALOG_FILE)
  const database = openDatabase({ path, mode: 'join' })
  using _closing = closing(database)
  if (new Replica(database).state() !== undefined) throw isReplica(config)
  return await work(createLoggedNames(database, now))
}

/** Its names would be replaced with those of the shared database. */
function isReplica({ data }: Config): AppError {
  return new AppError('usage', `database: ${data} belongs to a cluster, but none is configured`)
}

/** A name in no list may be a spelling mistake. */
async function noteUnknown(
  names: Names,
  { name, note }: { name: HiddenName; note: string },
  io: Io,
): Promise<void> {
  if (await names.isKnown(name)) return
  io.stderr(`note: ${note}${didYouMean(formatName(name), await names.known(name))}`)
}

function didYouMean(text: string, names: readonly HiddenName[]): string {
  const near = findNearNames(text, names.map(formatName))
  return near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`
}

/** Which site was changed: where its hidden names are, and its address if that is known. */
function formatSite({ data, database, server: { publicUrl } }: Config): string {
  const place = database === undefined ? data : `the database ${formatDatabase(database)}`
  return publicUrl === undefined ? place : `${place} (${publicUrl})`
}

/** The streamer or session that must be known; undefined for a user of all chats. */
function placeOf(name: HiddenName): NameToHide | undefined {
  if (name.kind !== 'chat-user') return name
  return name.streamer === undefined ? undefined : { kind: 'streamer', streamer: name.streamer }
}

function describe(name: HiddenName): string {
  if (name.kind !== 'chat-user') return formatName(name)
  const { user, streamer } = name
  return printable(`${user} in ${streamer === undefined ? 'all chats' : `chats of ${streamer}`}`)
}

/** As a command takes it. */
function formatName(name: HiddenName): string {
  if (name.kind === 'chat-user') {
    return printable(
      ['--chat-user', name.user, ...(name.streamer ? [name.streamer] : [])].join(' '),
    )
  }
  if (name.kind === 'streamer') return printable(name.streamer)
  return printable(`${name.streamer}/${name.date}/${name.sessionId}`)
}
