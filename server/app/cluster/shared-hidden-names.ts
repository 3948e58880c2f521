// The hidden names of the shared database, for the commands that change them.
import { datesBefore } from '../../library/catalog/store/hide-log.ts'
import type { HideLogEntry } from '../../library/catalog/store/hide-log.ts'
import { nameOf, rowOf } from '../../library/catalog/store/hidden.ts'
import type { HiddenName } from '../../library/catalog/store/hidden.ts'
import type { SharedDatabase } from '../../cluster/postgres/shared-database.ts'
import {
  changeHidden,
  isPublished,
  listHideLog,
  listPublishedDates,
  listPublishedNames,
  listPublishedOf,
  listSharedHidden,
  summariseSharedHidden,
} from '../../cluster/postgres/shared-hidden.ts'
import type { SharedHiddenName, SharedHiddenSummary } from '../../cluster/postgres/shared-hidden.ts'

/** @param now milliseconds since 1970 */
export function sharedHiddenNames(database: SharedDatabase, now: () => number) {
  const change = async (
    action: HideLogEntry['action'],
    name: HiddenName,
    reason: string,
  ): Promise<boolean> => changeHidden(database, { ...rowOf(name), atMs: now(), action, reason })
  return {
    hide: async (name: HiddenName, reason: string) => change('hide', name, reason),
    unhide: async (name: HiddenName, reason: string) => change('unhide', name, reason),
    isKnown: async (name: HiddenName): Promise<boolean> => {
      const row = rowOf(name)
      return isPublished(database, name.kind === 'session' ? row : { ...row, sessionId: '' })
    },
    list: async (): Promise<HiddenName[]> => (await listSharedHidden(database)).map(nameOf),
    summarise: async (limit: number): Promise<SharedHiddenSummary> =>
      summariseSharedHidden(database, limit),
    log: async (): Promise<HideLogEntry[]> => listHideLog(database),
    async known(name: HiddenName): Promise<HiddenName[]> {
      const row = rowOf(name)
      const sessions = row.sessionId === '' ? [] : await listPublishedNames(database, row.streamer)
      const known = sessions.length > 0 ? sessions : await listPublishedNames(database, undefined)
      return known.map(nameOf)
    },
    before: async (day: string): Promise<SharedHiddenName[]> =>
      listPublishedOf(database, datesBefore(await listPublishedDates(database), day)),
  }
}
