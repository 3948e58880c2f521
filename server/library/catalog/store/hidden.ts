// Names that an operator has hidden: a streamer, one session, or a user of chats. They outlive the
// recordings.
import type { ChatUserToHide, NameToHide } from '../../../../shared/name-to-hide.ts'
import { foldUser } from '../../../base/clean-text.ts'
import type { Database } from './database.ts'
import { createSessionListing } from './session-listing.ts'
import type { SessionKey } from './session-listing.ts'

/** A hidden name: a whole streamer, one session, or a user of chats. */
export type HiddenName = NameToHide | ChatUserToHide

/**
 * Hides and unhides names. Every process that reads the catalog sees changes at once; no file is
 * touched.
 */
export interface HiddenNames {
  /** Returns whether it was visible before. */
  hide(name: HiddenName): boolean
  /** Returns whether exactly this name was hidden. */
  unhide(name: HiddenName): boolean
  /** Hides and shows names in one transaction; returns how many were not so before. */
  set(changes: readonly HiddenChange[]): number
  /** Whether the catalog has a recording of this name, hidden or not. */
  isKnown(name: HiddenName): boolean
  /** Sorted by name. */
  list(): HiddenName[]
}

/** Instead of a streamer: no name contains a slash. */
export const ALL_STREAMERS = '/'
/** Instead of a date. */
const CHAT = '/chat'

/**
 * A name as stored: in NFC, and a streamer with empty date and session id. A user of chats has
 * `/chat` as the date, and `/` as the streamer if all are meant.
 */
export interface HiddenRow {
  streamer: string
  date: string
  sessionId: string
}

/** A name to hide, or to show again. */
export interface HiddenChange extends HiddenRow {
  isHidden: boolean
}

export function createHiddenNames(database: Database): HiddenNames {
  const queries = prepareHiddenQueries(database)
  const listing = createSessionListing(database)

  const set = (changes: readonly HiddenChange[]): number =>
    database.transaction(() => {
      let count = 0
      for (const { isHidden, ...row } of changes) {
        if ((isHidden ? queries.add : queries.remove).run(row) === 0) continue
        count += 1
        const key = queries.key.get(row)
        if (key) listing.touch(key)
        else listing.note(row)
      }
      listing.settle()
      return count
    })

  return {
    hide: (name) => set([{ ...rowOf(name), isHidden: true }]) > 0,
    unhide: (name) => set([{ ...rowOf(name), isHidden: false }]) > 0,
    set,
    isKnown: (name) =>
      (name.kind === 'session' ? queries.key : queries.streamer).get(rowOf(name)) !== undefined,
    list: () => queries.all.all({}).map(nameOf),
  }
}

export function rowOf(name: HiddenName): HiddenRow {
  if (name.kind === 'chat-user') {
    const streamer = name.streamer?.normalize('NFC') ?? ALL_STREAMERS
    return { streamer, date: CHAT, sessionId: foldUser(name.user) ?? '' }
  }
  const streamer = name.streamer.normalize('NFC')
  if (name.kind === 'streamer') return { streamer, date: '', sessionId: '' }
  const [date, sessionId] = [name.date.normalize('NFC'), name.sessionId.normalize('NFC')]
  return { streamer, date, sessionId }
}

export function nameOf(row: HiddenRow): HiddenName {
  if (row.date === CHAT) {
    const of = row.streamer === ALL_STREAMERS ? {} : { streamer: row.streamer }
    return { kind: 'chat-user', user: row.sessionId, ...of }
  }
  if (row.sessionId === '') return { kind: 'streamer', streamer: row.streamer }
  return { kind: 'session', ...row }
}

function prepareHiddenQueries(database: Database) {
  return {
    add: database.query<HiddenRow>(`
      INSERT INTO hidden (streamer, date, session_id) VALUES (@streamer, @date, @sessionId)
      ON CONFLICT DO NOTHING`),
    remove: database.query<HiddenRow>(`
      DELETE FROM hidden
      WHERE streamer = @streamer AND date = @date AND session_id = @sessionId`),
    all: database.query<object, HiddenRow>(`
      SELECT streamer, date, session_id AS "sessionId" FROM hidden
      ORDER BY streamer, date, session_id`),
    streamer: database.query<HiddenRow, { id: number }>(
      'SELECT id FROM streamers WHERE name = @streamer',
    ),
    key: database.query<HiddenRow, SessionKey>(`
      SELECT streamers.id AS "streamerId", date, session_id AS "sessionId"
      FROM streamers JOIN recordings ON recordings.streamer_id = streamers.id
      WHERE streamers.name = @streamer AND date = @date AND session_id = @sessionId`),
  }
}
