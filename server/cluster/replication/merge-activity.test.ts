// Counters on their way to a real PostgreSQL: who prunes those of all nodes.
import path from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { soon } from '../../../test/support/patience.ts'
import { queryOnce, sharedPostgres } from '../../../test/support/servers/postgres.ts'
import type { StartedPostgres } from '../../../test/support/servers/postgres.ts'
import { openActivityStore } from '../../site/analytics/activity-store.ts'
import { openOutgoingCounts } from '../../site/analytics/outgoing-counts.ts'
import { migrateSharedDatabase } from '../postgres/migrations.ts'
import { openSharedDatabase } from '../postgres/shared-database.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'
import { mergeActivity } from './merge-activity.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let postgres: StartedPostgres
let url: string
let database: SharedDatabase
let folder: string
let file: string

beforeAll(async () => {
  postgres = await sharedPostgres(inject('postgresFolder'))
})

beforeEach(async () => {
  url = await postgres.createDatabase()
  database = openSharedDatabase(url, () => undefined)
  await migrateSharedDatabase(database)
  folder = makeTempFolder('merge')
  file = path.join(folder, 'analytics.sqlite')
})

afterEach(async () => database.destroy())

test.each([
  ['of the node that scans', true, 1],
  ['not of another node', false, 2],
])('prunes after a merge, %s, and drops what cannot be stored', async (_name, isPruning, left) => {
  const old = `INSERT INTO aftercast.activity_batches VALUES ('old', now() - interval '91 days')`
  await queryOnce(url, old)
  const names = { label: '', zone: '', streamer: 'alice', date: '2026-01-31', sessionId: '1' }
  const count = { day: '2026-02-01', name: 'begin_video', ...names, amount: 1 } as const
  const store = openActivityStore(file)
  store.add([count, { ...count, day: 'never' }])
  store.close()
  const stopping = new AbortController()
  const dropped: number[] = []
  const failures: unknown[] = []
  const merging = mergeActivity({
    database,
    open: () => openOutgoingCounts(file),
    isPruning: () => isPruning,
    onFailure: (error) => failures.push(error),
    onDropped: (rows) => dropped.push(rows),
    signal: stopping.signal,
  })
  await expect.poll(() => dropped, soon).toEqual([1])
  // The turn of this merge ends with its pruning.
  stopping.abort()
  await merging
  expect(failures).toEqual([])
  expect(await queryOnce(url, 'SELECT FROM aftercast.activity_batches')).toHaveLength(left)
  expect(await queryOnce(url, 'SELECT day FROM aftercast.daily_counts')).toEqual([
    { day: '2026-02-01' },
  ])
})
