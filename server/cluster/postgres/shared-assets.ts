// The built pages of the nodes of a cluster, by release.
import { z } from 'zod'
import { inTransaction } from './shared-database.ts'
import type { SharedDatabase } from './shared-database.ts'
import { sql } from './sql.ts'

const assetShape = z.object({ name: z.string(), bytes: z.instanceof(Uint8Array) })

export interface SharedAsset {
  name: string
  bytes: Uint8Array
}

/** Earlier ones are removed. */
const MAX_RELEASES = 16

/** Ids of the releases, the newest first. */
export async function listReleases(database: SharedDatabase): Promise<string[]> {
  const releases = await sql`
    SELECT id FROM aftercast.releases ORDER BY added_at DESC, id`.rows(database, releaseShape)
  return releases.map(({ id }) => id)
}

const releaseShape = z.object({ id: z.string() })

/** The files of a release; none if it was removed. */
export async function readAssets(database: SharedDatabase, id: string): Promise<SharedAsset[]> {
  return sql`
    SELECT name, bytes FROM aftercast.assets WHERE release = ${id} ORDER BY name`.rows(
    database,
    assetShape,
  )
}

/** Adds a release unless it is there. Readers see all of its files or none. */
export async function addRelease(
  database: SharedDatabase,
  { id, assets }: { id: string; assets: readonly SharedAsset[] },
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const { isNew } = await sql`
      INSERT INTO aftercast.releases (id, added_at) VALUES (${id}, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET added_at = excluded.added_at
      RETURNING xmax = 0 AS "isNew"`.row(transaction, z.object({ isNew: z.boolean() }))
    if (!isNew) return
    for (const { name, bytes } of assets) {
      await sql`
        INSERT INTO aftercast.assets (release, name, bytes)
        VALUES (${id}, ${name}, ${bytes})`.execute(transaction)
    }
    await sql`
      DELETE FROM aftercast.releases WHERE id NOT IN (
        SELECT id FROM aftercast.releases ORDER BY added_at DESC, id LIMIT ${MAX_RELEASES})
      `.execute(transaction)
  })
}
