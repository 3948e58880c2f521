// Publishes the outbox of the scanning node, and discards that of a node which scans no longer.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Outbox, OutboxBatch } from '../../library/catalog/store/outbox.ts'
import type { RecordingPath } from '../../library/catalog/store/recording-columns.ts'
import type { Replica } from '../../library/catalog/store/replica.ts'
import { agreeOnSecret, describeLibrary, renewScan } from '../postgres/library-row.ts'
import { storeUnlessRefused } from '../postgres/refused-rows.ts'
import { inTransaction } from '../postgres/shared-database.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'
import { addHidden, addHideLog } from '../postgres/shared-hidden.ts'
import type { SharedHiddenName, SharedHideLogEntry } from '../postgres/shared-hidden.ts'
import {
  publishRecordings,
  readByPath,
  readPage,
  ROWS_PER_GENERATION,
} from '../postgres/shared-recordings.ts'

/** Bounds how long the event loop is blocked. */
const ROWS_PER_COMPARISON = 2000

export interface Publishing {
  database: SharedDatabase
  outbox: Outbox
  /** Of the process that scans. */
  token: string
  /** The database cannot store this recording, which is on this node alone. */
  onUnstorable: (path: RecordingPath, error: unknown) => void
  /** Called with each generation that was published. */
  onPublished?: (generation: number) => void
}

/** What a node gives to a database that has no library yet, besides recordings. */
export interface Contribution {
  hidden: readonly SharedHiddenName[]
  log: readonly SharedHideLogEntry[]
  /** HLS secret, unless it is configured. */
  secret: string | undefined
  layout: string
}

/**
 * Describes the library to a database that has none; the layout last, because nodes follow a
 * database with a layout, and show what it does not hide. Returns whether the process still is the
 * scanning one.
 */
export async function contribute(
  database: SharedDatabase,
  token: string,
  { hidden, log, secret, layout }: Contribution,
): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    // Locks the row, so that no other process scans before the end.
    if (!(await renewScan(transaction, token))) return false
    await addHidden(transaction, hidden)
    await addHideLog(transaction, log)
    if (secret !== undefined) await agreeOnSecret(transaction, secret)
    await describeLibrary(transaction, token, { layout, isWalked: false })
    return true
  })
}

/**
 * Publishes at most `batches` generations. Returns whether the process still is the scanning one;
 * if it is not, the outbox is as before.
 */
export async function publishOutbox(publishing: Publishing, batches: number): Promise<boolean> {
  const { outbox } = publishing
  for (let count = 0; count < batches; count += 1) {
    const batch = outbox.read(ROWS_PER_GENERATION)
    if (batch === undefined) return true
    if (!(await publishBatch(publishing, batch))) return false
    // If the connection failed after the commit, the same rows are published once more.
    outbox.remove(batch.numbers)
  }
  return true
}

async function publishBatch(publishing: Publishing, { present, gone }: Rows): Promise<boolean> {
  const { database, token, onUnstorable, onPublished } = publishing
  const rows: Row[] = [
    ...present.map((row) => ({ present: row })),
    ...gone.map((row) => ({ gone: row })),
  ]
  return storeUnlessRefused(rows, {
    store: async (some) => {
      const part = {
        present: some.flatMap((row) => ('present' in row ? [row.present] : [])),
        gone: some.flatMap((row) => ('gone' in row ? [row.gone] : [])),
      }
      const generation = await publishRecordings(database, token, part)
      if (generation !== undefined) onPublished?.(generation)
      return generation !== undefined
    },
    onRefused: (row, error) => onUnstorable('present' in row ? row.present : row.gone, error),
  })
}

type Rows = Pick<OutboxBatch, 'present' | 'gone'>
type Row = { present: Rows['present'][number] } | { gone: Rows['gone'][number] }

/**
 * Adds to the outbox what differs in the shared database: after a restart of its server, or from a
 * backup, it may lack what was published last. `renew` extends the claim to scan, and returns
 * whether it still is this process's.
 */
export async function addDifferences(
  { database, outbox }: Pick<Publishing, 'database' | 'outbox'>,
  replica: Replica,
  renew: () => Promise<boolean>,
): Promise<boolean> {
  let after: RecordingPath | undefined = { folder: '', name: '' }
  while (after !== undefined) {
    if (!(await renew())) return false
    const { present, upTo } = await readPage(database, after, ROWS_PER_COMPARISON)
    outbox.add(replica.differences({ present, after, upTo }))
    after = upTo
    await nextTurn()
  }
  return true
}

/**
 * Replaces what this node has found, but not published, with what the shared database has: the
 * node that scans now finds it again.
 */
export async function discardOutbox(
  { database, outbox }: Pick<Publishing, 'database' | 'outbox'>,
  replica: Replica,
): Promise<void> {
  for (;;) {
    const batch = outbox.read(ROWS_PER_GENERATION)
    if (batch === undefined) return
    const paths = [...batch.present, ...batch.gone].map(({ folder, name }) => ({ folder, name }))
    const present = await readByPath(database, paths)
    const found = new Set(present.map(({ folder, name }) => `${folder}/${name}`))
    const gone = paths.filter(({ folder, name }) => !found.has(`${folder}/${name}`))
    replica.revert({ numbers: batch.numbers, present, gone })
  }
}
