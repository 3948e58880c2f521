// `aftercast migrate`: carries hidden names, counters and the HLS secret of this data folder to a
// shared database.
import { join } from 'node:path'
import { openOutgoingCounts } from '../../site/analytics/outgoing-counts.ts'
import { openDatabase } from '../../library/catalog/store/database.ts'
import { createLoggedNames } from '../../library/catalog/store/hide-log.ts'
import { openHiddenReplica } from '../../library/catalog/store/replica-hidden.ts'
import { Replica } from '../../library/catalog/store/replica.ts'
import type { Config } from '../../base/config/load-config.ts'
import { readOrCreateSecret, adoptSecret } from '../../stream/delivery/secret.ts'
import { agreeOnSecret, readLibrary } from '../../cluster/postgres/library-row.ts'
import type { SharedDatabase } from '../../cluster/postgres/shared-database.ts'
import { addHidden, addHideLog } from '../../cluster/postgres/shared-hidden.ts'
import { mergeOnce } from '../../cluster/replication/merge-activity.ts'
import { ACTIVITY_FILE } from '../activity.ts'
import { claimDataFolder, requireCatalog } from '../data-folder.ts'
import type { Io } from '../io.ts'
import { CATALOG_FILE } from '../library.ts'
import { formatDatabase } from '../../base/config/database-url.ts'
import { countOf } from '../../../shared/count-of.ts'
import { migrateWithWarning, withSharedDatabase } from '../cluster/connect-database.ts'

/**
 * Returns the exit code 0. Carries nothing twice when it is repeated.
 *
 * @throws AppError `usage` while a server uses the data folder, or if there is no catalog in it
 */
export async function migrate(config: Config, url: string, io: Io): Promise<number> {
  requireCatalog(config)
  using _claim = await claimDataFolder(config, io)
  const prepare = async (database: SharedDatabase) => migrateWithWarning(database, io.stderr)
  const carry = async (database: SharedDatabase): Promise<number> => {
    const path = join(config.data, CATALOG_FILE)
    const local = openDatabase({ path, mode: 'write', replica: 'follow' })
    try {
      const names = await addHidden(database, openHiddenReplica(local).list())
      const { identity, epoch } = await readLibrary(database)
      const replica = new Replica(local)
      if (replica.state()?.identity !== identity) {
        replica.moveTo({ identity, epoch, generation: 0 })
      }
      const verb = names === 1 ? 'is' : 'are'
      const place = `the database ${formatDatabase(url)}`
      io.stdout(`${countOf(names, 'hidden name')} of ${config.data} ${verb} new in ${place}`)
      await addHideLog(database, createLoggedNames(local, Date.now).log())
    } finally {
      local.close()
    }
    const open = () => openOutgoingCounts(join(config.data, ACTIVITY_FILE))
    const onDropped = (rows: number): void =>
      io.stderr(`${rows} counters that the database cannot store were dropped`)
    await mergeOnce({ database, open, onDropped })
    io.stdout('The counters are in the database')
    if (config.hls.secret === undefined) await migrateSecret(database, config, io)
    return 0
  }
  return await withSharedDatabase(url, carry, prepare)
}

async function migrateSecret(database: SharedDatabase, { data }: Config, io: Io): Promise<void> {
  const own = await readOrCreateSecret(data, io.stderr)
  const agreed = await agreeOnSecret(database, own)
  await adoptSecret(data, agreed)
  io.stdout(
    agreed === own
      ? 'The HLS secret is in the database: URLs of segments stay the same'
      : 'The database had an HLS secret: URLs of segments change',
  )
}
