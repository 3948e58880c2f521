// The catalog as a replica of a shared database: applies its changes and snapshots, and stores the
// position. Lists, counts and the change log of this node are derived from them as in a scan.
import { randomUUID } from 'node:crypto'
import type { Database } from './database.ts'
import { ReferredRows, removeEmptyFolder } from './referred-rows.ts'
import { prepareReplicaQueries } from './replica-queries.ts'
import type { KnownRow, ReplicaQueries } from './replica-queries.ts'
import type { RecordingPath, SharedRecording } from './recording-columns.ts'
import { isAt } from './replica-position.ts'
import type { ReplicaPosition, ReplicaState } from './replica-position.ts'
import { createSessionListing } from './session-listing.ts'
import type { SessionKey, SessionListing } from './session-listing.ts'
import { prepareFolderQueries } from './writer-queries.ts'
import type { FolderQueries } from './writer-queries.ts'

/** Changes of the shared database. */
export interface ReplicaChanges {
  present: readonly SharedRecording[]
  gone: readonly RecordingPath[]
}

/** A part of a snapshot: all recordings after one path, up to another in byte order. */
export interface SnapshotPart {
  present: readonly SharedRecording[]
  after: RecordingPath
  /** Absent for the last part. */
  upTo: RecordingPath | undefined
}

/** What is known within one transaction. */
interface Transaction {
  rows: ReferredRows
  /** Ids of folders from which a recording was removed. */
  emptied: Set<number>
  /** Whether no recording of this catalog waits to be published. */
  isOutboxEmpty: boolean
}

export class Replica {
  readonly #database: Database
  readonly #queries: ReplicaQueries
  readonly #folders: FolderQueries
  readonly #listing: SessionListing

  constructor(database: Database) {
    this.#database = database
    this.#queries = prepareReplicaQueries(database)
    this.#folders = prepareFolderQueries(database)
    this.#listing = createSessionListing(database)
  }

  /** Undefined if the catalog is no replica. */
  state(): ReplicaState | undefined {
    return this.#queries.state.get({})
  }

  moveTo(position: ReplicaPosition): void {
    const node = this.state()?.node ?? randomUUID()
    this.#queries.moveTo.run({ node, ...position })
  }

  /** Identity of the layout with which the sessions were named; undefined before the first scan. */
  layout(): string | undefined {
    return this.#folders.layout.get({})?.layout ?? undefined
  }

  useLayout(layout: string): void {
    if (this.layout() !== layout) this.#folders.setLayout.run({ layout })
  }

  /**
   * Applies changes in one transaction, unless another process of this data folder has moved the
   * position; returns whether it did. Recordings of the outbox stay as they are: this node's
   * changes of them are newer.
   */
  apply({ present, gone }: ReplicaChanges, expected: ReplicaPosition): boolean {
    return this.#change(expected, (transaction) => {
      for (const recording of present) {
        if (!this.#isInOutbox(recording, transaction)) this.#put(recording, transaction)
      }
      for (const path of gone) {
        if (!this.#isInOutbox(path, transaction)) this.#remove(path, transaction)
      }
    })
  }

  /**
   * Recordings of this catalog that a part of a snapshot lacks. There may be very many: they may be
   * removed between the calls.
   */
  *surplus({ present, after, upTo }: SnapshotPart): Generator<RecordingPath, void> {
    const names = new Set(present.map(keyOf))
    for (const path of this.#between(after, upTo)) if (!names.has(keyOf(path))) yield path
  }

  /** Recordings in a part of a snapshot, or of this catalog, that differ. */
  differences(part: SnapshotPart): RecordingPath[] {
    const changed = part.present.filter((recording) => {
      const known = this.#find(recording)
      const streamer = this.#queries.streamer.get({ name: recording.streamer })
      return !known || !isEqual(known, { ...recording, streamerId: streamer?.id })
    })
    return [...this.surplus(part), ...changed.map(({ folder, name }) => ({ folder, name }))]
  }

  /**
   * Replaces the recordings of outbox entries with what the shared database has of them, and
   * removes the entries.
   */
  revert({ numbers, present, gone }: ReplicaChanges & { numbers: readonly number[] }): void {
    this.#change(undefined, (transaction) => {
      for (const recording of present) this.#put(recording, transaction)
      for (const path of gone) this.#remove(path, transaction)
      for (const number of numbers) this.#queries.removeFromOutbox.run({ number })
    })
  }

  #change(
    expected: ReplicaPosition | undefined,
    work: (transaction: Transaction) => void,
  ): boolean {
    return this.#database.transaction(() => {
      if (expected !== undefined && !isAt(this.state(), expected)) return false
      const transaction: Transaction = {
        rows: new ReferredRows(this.#folders, this.#listing),
        emptied: new Set<number>(),
        isOutboxEmpty: this.#queries.anyOutbox.get({}) === undefined,
      }
      work(transaction)
      for (const id of transaction.emptied) removeEmptyFolder(this.#folders, id)
      this.#listing.settle()
      return true
    })
  }

  #isInOutbox({ folder, name }: RecordingPath, { isOutboxEmpty }: Transaction): boolean {
    return !isOutboxEmpty && this.#queries.inOutbox.get({ folder, name }) !== undefined
  }

  #put(recording: SharedRecording, { rows }: Transaction): void {
    const folderId = rows.folder(recording.folder)
    const streamerId = rows.streamer(recording.streamer)
    const { date, sessionId } = recording
    const key: SessionKey = { streamerId, date, sessionId }
    const row = { ...recording, folderId, streamerId }
    const known = this.#queries.known.get({ folderId, name: recording.name })
    if (known !== undefined) {
      if (isEqual(known, row)) return
      this.#listing.touch(known)
      this.#queries.update.run(row)
      this.#listing.touch(key)
      return
    }
    const isFirst = rows.isNewDate(key) && recording.status !== 'unplayable'
    this.#queries.add.run(row)
    if (isFirst) this.#listing.addFirst(key)
    else this.#listing.touch(key)
  }

  #find({ folder, name }: RecordingPath): KnownRow | undefined {
    const found = this.#folders.folder.get({ path: folder })
    return found && this.#queries.known.get({ folderId: found.id, name })
  }

  #remove(path: RecordingPath, { emptied }: Transaction): void {
    const folder = this.#folders.folder.get({ path: path.folder })
    const known = folder && this.#queries.known.get({ folderId: folder.id, name: path.name })
    if (folder === undefined || known === undefined) return
    this.#folders.removeRecording.get({ id: known.id })
    emptied.add(folder.id)
    this.#listing.touch(known)
  }

  /** Paths of this catalog after one path, up to another. */
  *#between(after: RecordingPath, upTo: RecordingPath | undefined): Generator<RecordingPath, void> {
    const folders =
      upTo === undefined
        ? this.#queries.foldersFrom.all({ from: after.folder })
        : this.#queries.foldersBetween.all({ from: after.folder, upTo: upTo.folder })
    for (const { id, path } of folders) {
      const from = path === after.folder ? after.name : ''
      const names =
        path === upTo?.folder
          ? this.#queries.namesBetween.all({ id, from, upTo: upTo.name })
          : this.#queries.namesFrom.all({ id, from })
      for (const { name } of names) yield { folder: path, name }
    }
  }
}

/** Names contain no slash. */
function keyOf({ folder, name }: RecordingPath): string {
  return `${folder}/${name}`
}

function isEqual(known: KnownRow, row: object): boolean {
  const { id: _, ...columns } = known
  return Object.entries(columns).every(([column, value]) => Reflect.get(row, column) === value)
}
