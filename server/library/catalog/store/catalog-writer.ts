// The catalog's write side: found, deleted and inspected recordings. One transaction per call.
import type { FileStat } from '../../../storage/recordings/storage.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import { createChangeLog } from './change-log.ts'
import type { ChangeLog } from './change-log.ts'
import type { Database } from './database.ts'
import { NamedStarts } from './named-starts.ts'
import { ReferredRows, removeEmptyFolder } from './referred-rows.ts'
import type { InspectionResult } from './inspection-result.ts'
import { formatFacts } from './stored-facts.ts'
import type { SidecarFacts } from './stored-facts.ts'
import { formatStoredReason } from './stored-reason.ts'
import type { LayoutMatch } from '../names/layout.ts'
import { joinPath, splitPath } from '../../../storage/recordings/library-path.ts'
import {
  prepareFolderQueries,
  preparePendingQueries,
  prepareTitleQueries,
} from './writer-queries.ts'
import type {
  FolderQueries,
  FoundRow,
  KnownRow,
  PendingQueries,
  PendingRow,
  TitleQueries,
} from './writer-queries.ts'
import { createSessionListing } from './session-listing.ts'
import type { SessionKey, SessionListing } from './session-listing.ts'

/** A new recording, or one with another version. */
export interface FoundRecording {
  folder: string
  name: string
  kind: 'file' | 'folder'
  stat: FileStat
  match: LayoutMatch
  /** When it counts as finished. */
  settlesAtMs: number
  /** Signature of its sidecars with text; default none. */
  sidecars?: string
}

/** A folder in the catalog. */
export interface KnownFolder {
  recordings: KnownRecording[]
  /** Names of subfolders that contain recordings. */
  folders: string[]
}

/** A row. Its version is empty if an older release made it. */
export type KnownRecording = KnownRow

/** A recording with other sidecars than its row. */
export interface SignedRecording {
  id: number
  sidecars: string
}

/** A listed recording whose sidecars are not read, or have changed since. */
export interface UntitledRecording {
  id: number
  path: string
  kind: 'file' | 'folder'
  /** Signature of the sidecars by the last walk. */
  sidecars: string
}

/** What the sidecars of a recording contain. */
export interface RecordingTitle {
  facts: SidecarFacts
  /** Signature of the sidecars that were read. */
  sidecars: string
}

/** An unchanged recording whose row has no version yet. */
export interface AdoptedRecording {
  id: number
  version: string
}

/** A recording that waits for its inspection. */
export interface PendingRecording {
  id: number
  path: string
  kind: 'file' | 'folder'
  stat: FileStat
  settlesAtMs: number
  attempts: number
  session: SessionReference
}

/** An inspected recording with the result. */
export interface InspectedRecording {
  recording: PendingRecording
  result: InspectionResult
}

/** Changes of one transaction. */
export interface FolderChanges {
  found: readonly FoundRecording[]
  /** Ids of deleted recordings. */
  gone: readonly number[]
  adopted?: readonly AdoptedRecording[]
  signed?: readonly SignedRecording[]
}

/** Rows of an earlier layout per transaction, which bounds how long the event loop is blocked. */
const REMOVED_AT_ONCE = 1000

/** The write side of the catalog. Meant for a single writer; several only cost speed. */
export class CatalogWriter {
  readonly #database: Database
  readonly #folders: FolderQueries
  readonly #pending: PendingQueries
  readonly #titles: TitleQueries
  readonly #listing: SessionListing
  readonly #changes: ChangeLog
  readonly #starts: NamedStarts

  constructor(database: Database) {
    this.#database = database
    this.#folders = prepareFolderQueries(database)
    this.#pending = preparePendingQueries(database)
    this.#titles = prepareTitleQueries(database)
    this.#listing = createSessionListing(database)
    this.#changes = createChangeLog(database)
    this.#starts = new NamedStarts(database)
  }

  /**
   * Empties a catalog that was made with another layout (by its identity). Hidden names stay.
   * Returns whether it is done: each call is a short transaction, and a catalog of a million
   * recordings takes many. Until the last one, lists may have sessions that are gone.
   */
  useLayout(layout: string): boolean {
    return this.#database.transaction(() => {
      const known = this.#folders.layout.get({})?.layout
      if (known === layout) return true
      const { removeSomeRecordings, removeSomeFolders, removeSomeStreamers } = this.#folders
      // In the order of their references.
      const removals = [removeSomeRecordings, removeSomeFolders, removeSomeStreamers]
      let limit = REMOVED_AT_ONCE
      for (const removal of known === null ? [] : removals) limit -= removal.run({ limit })
      if (limit === 0) return false
      this.#folders.setLayout.run({ layout })
      this.#changes.write('all')
      return true
    })
  }

  /** Reads the starts in names in this time zone; returns whether it is done, as `useLayout`. */
  useZone(zone: string): boolean {
    return this.#database.transaction(() => this.#starts.useZone(zone))
  }

  /** The rows of a folder; empty for an unknown folder. */
  readFolder(path: string): KnownFolder {
    const folder = this.#folders.folder.get({ path })
    if (!folder) return { recordings: [], folders: [] }
    const children = this.#folders.children.all(folder)
    return {
      recordings: this.#folders.recordings.all(folder),
      folders: children.flatMap((child) => splitPath(child.path)?.name ?? []),
    }
  }

  /** One recording of a folder; undefined if unknown. */
  readRecording(folder: string, name: string): KnownRecording | undefined {
    const known = this.#folders.folder.get({ path: folder })
    return known && this.#folders.recordingByName.get({ ...known, name })
  }

  apply({ found, gone, adopted = [], signed = [] }: FolderChanges): void {
    this.#database.transaction(() => {
      const rows = new ReferredRows(this.#folders, this.#listing)
      for (const recording of found) this.#put(recording, rows)
      for (const folder of new Set(gone.map((id) => this.#remove(id)))) {
        if (folder !== undefined) removeEmptyFolder(this.#folders, folder)
      }
      for (const recording of adopted) this.#folders.addVersion.run(recording)
      for (const recording of signed) this.#titles.sign.run(recording)
      this.#listing.settle()
    })
  }

  /**
   * Removes at most `limit` recordings at or below a path. Returns whether there may be more, so
   * that a large folder is removed in several transactions.
   */
  removeSome(path: string, limit: number): boolean {
    return this.#database.transaction(() => {
      const more = this.#removeFolder(path, limit) || this.#removeFile(path)
      this.#listing.settle()
      return more
    })
  }

  /** Number of recordings, listed or not. */
  countRecordings(): number {
    return this.#pending.countRecordings.get({})?.count ?? 0
  }

  /** Number of recordings that wait for their inspection, due or not. */
  countPending(): number {
    return this.#pending.countPending.get({})?.count ?? 0
  }

  /** Recordings whose inspection is due, newest first. */
  duePending(nowMs: number, limit: number): PendingRecording[] {
    return this.#pending.due.all({ nowMs, limit }).map(pendingRecording)
  }

  /** When the next pending recording becomes due; undefined if none is pending. */
  nextDueMs(): number | undefined {
    return this.#pending.nextDue.get({})?.nextDueMs ?? undefined
  }

  /** A recording, if its inspection is still due. */
  readPending(id: number, nowMs: number): PendingRecording | undefined {
    const row = this.#pending.pending.get({ id, nowMs })
    return row && pendingRecording(row)
  }

  /** Id of a session's recording that waits for inspection. */
  findPending(session: SessionReference): number | undefined {
    return this.#pending.pendingOfSession.get({ ...session })?.id
  }

  /** Stores results of inspections, except for recordings that changed or disappeared meanwhile. */
  record(inspected: readonly InspectedRecording[]): void {
    this.#database.transaction(() => {
      for (const one of inspected) this.#record(one)
      this.#listing.settle()
    })
  }

  /** Listed recordings whose sidecars must be read, newest first, at most `limit`. */
  untitled(limit: number): UntitledRecording[] {
    return this.#titles.untitled.all({ limit }).map(({ folder, name, ...recording }) => {
      return { ...recording, path: joinPath(folder, name) }
    })
  }

  /** Stores what the sidecars of recordings contain. */
  recordTitles(titles: readonly (RecordingTitle & { id: number })[]): void {
    this.#database.transaction(() => {
      for (const title of titles) {
        const { id, facts, sidecars } = title
        const row = { id, facts: formatFacts(facts), titledBy: sidecars }
        if (this.#titles.record.run(row) === 0) continue
        const session = this.#folders.session.get({ id })
        if (session) this.#listing.note(session)
      }
      this.#listing.settle()
    })
  }

  #record({ recording: { id, stat }, result }: InspectedRecording): void {
    const changed = this.#pending.record.run({ id, version: stat.version, ...result })
    if (changed === 0 || result.status === 'found') return
    if (result.status === 'playable') {
      // Already listed; only its duration is new.
      const session = this.#folders.session.get({ id })
      if (session) this.#listing.note(session)
    } else {
      const key = this.#folders.sessionKey.get({ id })
      if (key) this.#listing.touch(key)
    }
  }

  #put(recording: FoundRecording, rows: ReferredRows): void {
    const folderId = rows.folder(recording.folder)
    const { session, rank } = recording.match
    const { sizeBytes, modifiedMs, version } = recording.stat
    const isEmpty = sizeBytes === 0
    const key: SessionKey = {
      streamerId: rows.streamer(session.streamer),
      date: session.date,
      sessionId: session.sessionId,
    }
    const row: FoundRow = {
      ...key,
      sizeBytes,
      modifiedMs,
      version,
      folderId,
      rank,
      name: recording.name,
      kind: recording.kind,
      // Not listed before it has bytes.
      status: isEmpty ? 'unplayable' : 'found',
      reason: isEmpty ? formatStoredReason({ code: 'file-empty' }) : null,
      durationSeconds: null,
      recordedStartMs: null,
      flawed: 0,
      retryAtMs: 0,
      restUntilMs: 0,
      attempts: 0,
      settlesAtMs: recording.settlesAtMs,
      sidecars: recording.sidecars ?? '',
    }
    const isNewDate = rows.isNewDate(key)
    if (this.#folders.add.run(row) === 0) {
      const before = this.#folders.sessionKeyByName.get(row)
      if (before) this.#listing.touch(before)
      this.#folders.update.run(row)
      this.#listing.touch(key)
    } else if (isNewDate && !isEmpty) {
      this.#listing.addFirst(key)
    } else {
      this.#listing.touch(key)
    }
  }

  /** Returns the id of its folder, which may be empty now. */
  #remove(id: number): number | undefined {
    const key = this.#folders.sessionKey.get({ id })
    if (key) this.#listing.touch(key)
    return this.#folders.removeRecording.get({ id })?.folderId
  }

  #removeFolder(path: string, limit: number): boolean {
    let left = limit
    while (left > 0) {
      const leaf = this.#leafBelow(path)
      if (leaf === undefined) return false
      const recordings = this.#folders.recordingIds.all({ id: leaf, limit: left })
      for (const { id } of recordings) this.#remove(id)
      // Counts folders too: thousands of empty ones must not make one long transaction.
      left -= recordings.length + 1
      removeEmptyFolder(this.#folders, leaf)
    }
    return true
  }

  /**
   * A folder without subfolders, at or below a path; undefined if the path is no known folder.
   */
  #leafBelow(path: string): number | undefined {
    let id = this.#folders.folder.get({ path })?.id
    for (let child = id; child !== undefined;) {
      id = child
      child = this.#folders.firstChild.get({ id })?.id
    }
    return id
  }

  /** Returns false: a file is always removed completely. */
  #removeFile(path: string): false {
    const place = splitPath(path)
    const file = place && this.readRecording(place.folder, place.name)
    const folder = file && this.#remove(file.id)
    if (folder !== undefined) removeEmptyFolder(this.#folders, folder)
    return false
  }
}

function pendingRecording(row: PendingRow): PendingRecording {
  return {
    id: row.id,
    path: joinPath(row.folder, row.name),
    kind: row.kind,
    stat: { sizeBytes: row.sizeBytes, modifiedMs: row.modifiedMs, version: row.version },
    settlesAtMs: row.settlesAtMs,
    attempts: row.attempts,
    session: { streamer: row.streamer, date: row.date, sessionId: row.sessionId },
  }
}
