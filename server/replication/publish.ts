// Publishes the outbox of the scanning node, and discards that of a node which scans no longer.
import type { Outbox, OutboxBatch } from '../catalog/store/outbox.ts'
import type { RecordingPath } from '../catalog/store/replica-recording.ts'
import type { Replica } from '../catalog/store/replica.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'
import {
  publishRecordings,
  readByPath,
  ROWS_PER_GENERATION,
} from '../postgres/shared-recordings.ts'

export interface Publishing {
  database: SharedDatabase
  outbox: Outbox
  /** Of the process that scans. */
  token: string
  /** The database cannot store this recording, which is on this node alone. */
  onUnstorable: (path: RecordingPath, error: unknown) => void
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
  const { database, token, onUnstorable } = publishing
  try {
    return (await publishRecordings(database, token, { present, gone })) !== undefined
  } catch (error) {
    const [only, ...others] = present
    if (only === undefined || !isUnstorable(error)) throw error
    if (others.length === 0) {
      onUnstorable(only, error)
      return publishBatch(publishing, { present: [], gone })
    }
    const half = Math.ceil(present.length / 2)
    return (
      (await publishBatch(publishing, { present: present.slice(0, half), gone })) &&
      publishBatch(publishing, { present: present.slice(half), gone: [] })
    )
  }
}

type Rows = Pick<OutboxBatch, 'present' | 'gone'>

/**
 * SQLSTATE of data exceptions, and of a row that exceeds a limit: a row of an index has at most
 * 2704 bytes.
 */
function isUnstorable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:22|54)/.test(String(error.code))
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
