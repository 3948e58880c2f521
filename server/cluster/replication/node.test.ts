// Nodes with catalogs of their own and one PostgreSQL: what one finds, all list; a scan that ends
// continues on another node; outages stop nothing.
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import pg from 'pg'
import { soon } from '../../../test/support/patience.ts'
import { startPgBouncer } from '../../../test/support/servers/pgbouncer.ts'
import { queryOnce, sharedPostgres } from '../../../test/support/servers/postgres.ts'
import type { StartedPostgres } from '../../../test/support/servers/postgres.ts'
import { startSilentRelay } from '../../../test/support/servers/silent-relay.ts'
import { CatalogWriter } from '../../library/catalog/store/catalog-writer.ts'
import type { FoundRecording } from '../../library/catalog/store/catalog-writer.ts'
import { openDatabase } from '../../library/catalog/store/database.ts'
import type { Database } from '../../library/catalog/store/database.ts'
import { createLoggedNames } from '../../library/catalog/store/hide-log.ts'
import { openOutbox } from '../../library/catalog/store/outbox.ts'
import { openHiddenReplica } from '../../library/catalog/store/replica-hidden.ts'
import type { HiddenReplica } from '../../library/catalog/store/replica-hidden.ts'
import { Replica } from '../../library/catalog/store/replica.ts'
import { createCatalog } from '../../library/catalog/store/sqlite-catalog.ts'
import type { Catalog } from '../../library/catalog/catalog.ts'
import { isAppError } from '../../base/errors.ts'
import { mergeCounts } from '../postgres/shared-counts.ts'
import { migrateSharedDatabase } from '../postgres/migrations.ts'
import { HIDE_LIMITS, openSharedDatabase } from '../postgres/shared-database.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'
import { addHidden, changeHidden } from '../postgres/shared-hidden.ts'
import { ClusterNode } from './node.ts'
import type { NodeProblem } from './node-options.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let postgres: StartedPostgres
let url: string
let base: string
let running: TestNode[]

beforeAll(async () => {
  postgres = await sharedPostgres(inject('postgresFolder'))
})

beforeEach(async () => {
  url = await postgres.createDatabase()
  const shared = openSharedDatabase(url, () => undefined)
  await migrateSharedDatabase(shared)
  await shared.destroy()
  base = makeTempFolder('node')
  running = []
})

afterEach(async () => Promise.all(running.map(async (node) => node.stop())))

interface NodeOptions {
  scans?: boolean
  /** Identity of its layout. */
  layout?: string
  firstWalk?: Promise<void>
  /** Until then, it does nothing but to hide. */
  ready?: Promise<void>
  /** Default never. */
  recreateAfterMs?: number
  /** Where its connections lead: for hidden names, and all others. */
  hideUrl?: string
  nodeUrl?: string
  library?: { isUsable: boolean; isEmpty?: boolean }
}

interface TestNode {
  node: ClusterNode
  catalog: Catalog
  writer: CatalogWriter
  shared: SharedDatabase
  database: Database
  problems: NodeProblem[]
  /** How often it prepared the database, and drew a random number. */
  counts: { prepared: number; drawn: number }
  replica: Replica
  hidden: HiddenReplica
  stop(): Promise<void>
}

/** A node with a catalog file of this name, which a node before may have left. */
function startNode(
  name: string,
  {
    scans = false,
    layout = '1',
    firstWalk = Promise.resolve(),
    hideUrl = url,
    nodeUrl = url,
    ready,
    recreateAfterMs = Infinity,
    library = { isUsable: true },
  }: NodeOptions = {},
): TestNode {
  const file = path.join(base, name, 'catalog.sqlite')
  const following = openDatabase({ path: file, mode: 'write', replica: 'follow' })
  const database = openDatabase({ path: file, mode: 'write', replica: 'scan' })
  const problems: NodeProblem[] = []
  const counts = { prepared: 0, drawn: 0 }
  const shared = openSharedDatabase(nodeUrl, () => undefined)
  const hideDatabase = openSharedDatabase(hideUrl, () => undefined, HIDE_LIMITS)
  const writer = new CatalogWriter(database)
  const replica = new Replica(following)
  const hidden = openHiddenReplica(following)
  const node = new ClusterNode({
    database: shared,
    hideDatabase,
    replica,
    hidden,
    outbox: openOutbox(following),
    layout,
    scan: scans ? scanUntil : undefined,
    library: {
      get isUsable() {
        return library.isUsable
      },
      get isEmpty() {
        return library.isEmpty ?? false
      },
      check: async () => library.isUsable,
    },
    prepare: async () => {
      counts.prepared += 1
      await ready
      await migrateSharedDatabase(shared)
    },
    recreateAfterMs,
    contribution: async () => ({
      hidden: hidden.list(),
      log: createLoggedNames(following, Date.now).log(),
      secret: 'secret of the node',
    }),
    random: () => {
      counts.drawn += 1
      return 0
    },
    onProblem: (problem) => problems.push(problem),
  })
  /** The tests write the rows of a scan themselves. */
  function scanUntil(signal: AbortSignal) {
    writer.useLayout(layout)
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    return { firstWalk, ended }
  }
  const stopping = new AbortController()
  const ended = node.run(stopping.signal)
  let isStopped = false
  const started: TestNode = {
    node,
    catalog: createCatalog(database),
    writer,
    shared,
    database,
    problems,
    counts,
    replica,
    hidden,
    async stop() {
      if (isStopped) return
      isStopped = true
      stopping.abort()
      await ended
      await Promise.all([shared.destroy(), hideDatabase.destroy()])
      following.close()
      database.close()
    },
  }
  running.push(started)
  return started
}

/** @param name `streamer/date/id` */
function found(name: string, size = 1): FoundRecording {
  const [streamer = '', date = '', id = ''] = name.split('/')
  return {
    folder: `${streamer}/${date}`,
    name: `${id}.mp4`,
    kind: 'file',
    stat: { sizeBytes: size, modifiedMs: 1000, version: `v${size}` },
    match: { session: { streamer, date, sessionId: id }, rank: 0 },
    settlesAtMs: 2000,
  }
}

function idsOf({ writer }: TestNode, folder: string): number[] {
  return writer.readFolder(folder).recordings.map(({ id }) => id)
}

async function scanningNode(name: string): Promise<TestNode> {
  const node = startNode(name, { scans: true })
  expect(await node.node.current).toBe('scanning')
  return node
}

/** All lists of a node. */
function listsOf({ catalog }: TestNode): unknown {
  return catalog.listStreamers().map((streamer) => [streamer, catalog.listSessions(streamer.name)])
}

function isGone(catalog: Catalog, streamer: string): boolean {
  try {
    catalog.listSessions(streamer)
    return false
  } catch (error) {
    return isAppError(error, 'gone')
  }
}

async function expectSameLists(one: TestNode, other: TestNode): Promise<void> {
  await expect.poll(() => listsOf(other)).toEqual(listsOf(one))
}

describe('a node that follows', () => {
  it('lists what another one finds, inspects and removes', async () => {
    const first = await scanningNode('a')
    const second = startNode('b')
    first.writer.apply({
      found: [found('alice/2026-01-31/1'), found('bob/2026-01-31/1')],
      gone: [],
    })
    await expect.poll(() => second.catalog.listStreamers()).toHaveLength(2)
    const [recording] = first.writer.duePending(Date.now(), 10)
    if (recording === undefined) throw new Error('nothing is pending')
    first.writer.record([
      {
        recording,
        result: {
          status: 'playable',
          durationSeconds: 65,
          recordedStartMs: 1_769_817_600_000,
          reason: null,
          flawed: 0,
          retryAtMs: 0,
          restUntilMs: 0,
          attempts: 0,
        },
      },
    ])
    await expectSameLists(first, second)
    expect(JSON.stringify(listsOf(second))).toContain('0:01:05')
    first.writer.apply({ found: [], gone: idsOf(first, 'alice/2026-01-31') })
    await expectSameLists(first, second)
    expect(second.catalog.listStreamers()).toHaveLength(1)
    const folders = second.database.query<object, { path: string }>(
      'SELECT path FROM folders ORDER BY path',
    )
    expect(folders.all({}).map(({ path: folder }) => folder)).toEqual(['', 'bob', 'bob/2026-01-31'])
    await expect.poll(() => first.node.figures()).toMatchObject({ outbox: 0, lagGenerations: 0 })
    expect(second.node.figures()).toMatchObject({ isDatabaseUp: true, isScanning: false })
  })

  it('starts with a snapshot, and removes what the shared library does not have', async () => {
    const before = openDatabase({
      path: path.join(base, 'b', 'catalog.sqlite'),
      mode: 'write',
    })
    new CatalogWriter(before).apply({
      found: [found('alice/2026-01-31/1', 7), found('zoe/2020-01-01/9')],
      gone: [],
    })
    before.close()
    const first = await scanningNode('a')
    const many = Array.from({ length: 1300 }, (_, at) => found(`alice/2026-01-31/${at}`))
    first.writer.apply({ found: [...many, found('é/2026-01-31/1')], gone: [] })
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    const second = startNode('b')
    await expectSameLists(first, second)
    expect(
      second.catalog.findSession({ streamer: 'zoe', date: '2020-01-01', sessionId: '9' }),
    ).toBe(undefined)
  })

  it('takes a snapshot again after deletions that are no longer recorded', async () => {
    const first = await scanningNode('a')
    first.writer.apply({
      found: [found('alice/2026-01-31/1'), found('bob/2026-01-31/1')],
      gone: [],
    })
    const second = startNode('b')
    await expectSameLists(first, second)
    await second.stop()
    first.writer.apply({ found: [], gone: idsOf(first, 'bob/2026-01-31') })
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    await queryOnce(
      url,
      `WITH gone AS (DELETE FROM aftercast.recordings WHERE removed_at IS NOT NULL RETURNING 1)
       UPDATE aftercast.library SET complete_since = generation`,
    )
    await expectSameLists(first, startNode('b'))
  })

  it('hides and shows names, also on the scanning node', async () => {
    const first = await scanningNode('a')
    first.writer.apply({ found: [found('alice/2026-01-31/1')], gone: [] })
    const second = startNode('b')
    await expectSameLists(first, second)
    const change = async (action: 'hide' | 'unhide'): Promise<boolean> => {
      const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
      return changeHidden(first.shared, { ...session, action, atMs: 1, reason: '' })
    }
    expect([await change('hide'), await change('hide')]).toEqual([true, false])
    for (const { catalog } of [first, second]) {
      await expect.poll(() => catalog.listStreamers()).toEqual([])
    }
    expect([await change('unhide'), await change('unhide')]).toEqual([true, false])
    for (const { catalog } of [first, second]) {
      await expect.poll(() => catalog.listStreamers()).toHaveLength(1)
    }
  })

  it('hides while all else waits, also after its connection has become silent', async () => {
    const relay = await startSilentRelay(postgres.port)
    const waiting = Promise.withResolvers<void>()
    try {
      await queryOnce(url, `UPDATE aftercast.library SET layout = '1'`)
      const ready = waiting.promise
      const { shared, hidden } = startNode('a', { hideUrl: relay.through(url), ready })
      await expect.poll(() => hidden.position()).toBeDefined()
      relay.silence()
      const name = { streamer: 'alice', date: '', sessionId: '' }
      await addHidden(shared, [name])
      await expect.poll(() => hidden.list()).toEqual([name])
    } finally {
      waiting.resolve()
      await relay.stop()
    }
  })

  it('skips rows that are not valid', async () => {
    const first = await scanningNode('a')
    first.writer.apply({
      found: [found('alice/2026-01-31/1'), found('bob/2026-01-31/1')],
      gone: [],
    })
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    await queryOnce(url, `UPDATE aftercast.recordings SET folder = '../etc' WHERE streamer = 'bob'`)
    const second = startNode('b')
    await expect.poll(() => second.catalog.listStreamers()).toHaveLength(1)
    expect(second.problems).toContainEqual({ kind: 'invalid', rows: 1 })
  })

  it('has no start that no calendar has', async () => {
    const first = await scanningNode('a')
    first.writer.apply({
      found: [found('alice/2026-01-31/1'), found('alice/2026-01-31/2')],
      gone: [],
    })
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    const tooLate = Number.MAX_SAFE_INTEGER
    await queryOnce(
      url,
      `UPDATE aftercast.recordings SET recorded_start_ms = ${tooLate} WHERE session_id = '1'`,
    )
    await queryOnce(
      url,
      `UPDATE aftercast.recordings SET facts = '{"startMs":${tooLate}}' WHERE session_id = '2'`,
    )
    const second = startNode('b')
    await expect.poll(() => second.catalog.listSessions('alice')).toHaveLength(2)
    const details = second.catalog.listDetails('alice') ?? []
    expect(details.map(({ startMs }) => startMs)).toEqual([undefined, undefined])
  })
})

describe('nodes that connect through PgBouncer in transaction mode', () => {
  it('scan, follow, hide and count', async () => {
    const bouncer = await startPgBouncer(postgres)
    try {
      url = bouncer.through(url)
      const first = await scanningNode('a')
      const second = startNode('b', { scans: true })
      expect(await second.node.current).toBe('following')
      first.writer.apply({ found: [found('alice/2026-01-31/1')], gone: [] })
      await expectSameLists(first, second)
      await addHidden(second.shared, [{ streamer: 'alice', date: '', sessionId: '' }])
      await expect.poll(() => first.catalog.listStreamers()).toEqual([])
      const batch = { id: 'a', counts: [{ ...count, amount: 2 }] }
      await Promise.all(
        [first, second, first, second].map(async ({ shared }) => mergeCounts(shared, batch)),
      )
      expect(await queryOnce(url, 'SELECT amount FROM aftercast.daily_counts')).toEqual([
        { amount: '2' },
      ])
      await first.stop()
      await expect.poll(() => second.node.figures().isScanning).toBe(true)
      await second.stop()
    } finally {
      await bouncer.stop()
    }
  })
})

const count = {
  day: '2026-01-31',
  name: 'begin_video',
  label: '',
  zone: '',
  streamer: 'alice',
  date: '2026-01-31',
  sessionId: '1',
}

describe('a node that cannot read the recordings', () => {
  it('follows, and scans once it can', async () => {
    const library = { isUsable: false }
    const blind = startNode('a', { scans: true, library })
    expect(await blind.node.current).toBe('following')
    expect(blind.node.figures()).toMatchObject({ isScanning: false, isLibraryUsable: false })
    const second = await scanningNode('b')
    second.writer.apply({ found: [found('alice/2026-01-31/1')], gone: [] })
    await expectSameLists(second, blind)
    await second.stop()
    library.isUsable = true
    await expect.poll(() => blind.node.figures().isScanning, soon).toBe(true)
  })

  it('leaves the scan to another node, and follows that', async () => {
    const library = { isUsable: true }
    const first = startNode('a', { scans: true, library })
    expect(await first.node.current).toBe('scanning')
    const second = startNode('b', { scans: true })
    expect(await second.node.current).toBe('following')
    library.isUsable = false
    await expect.poll(() => second.node.figures().isScanning, soon).toBe(true)
    second.writer.apply({ found: [found('alice/2026-01-31/1')], gone: [] })
    await expectSameLists(second, first)
    await addHidden(second.shared, [{ streamer: 'alice', date: '', sessionId: '' }])
    await expectSameLists(second, first)
    await expect.poll(() => listsOf(first), soon).toEqual([])
    expect(first.problems).toContainEqual({ kind: 'scan-lost' })
  })
})

describe('a node that scans', () => {
  it('is one, and another one takes over with the same catalog when it ends', async () => {
    const first = await scanningNode('a')
    const second = startNode('b', { scans: true })
    expect(await second.node.current).toBe('following')
    first.writer.apply({ found: [found('alice/2026-01-31/1')], gone: [] })
    await expectSameLists(first, second)
    await first.stop()
    await expect.poll(() => second.node.figures().isScanning).toBe(true)
    expect(second.catalog.listStreamers()).toHaveLength(1)
    second.writer.apply({ found: [found('alice/2026-02-01/2')], gone: [] })
    await expectSameLists(second, startNode('a', { scans: true }))
  })

  it('leaves an empty library to a node that sees recordings', async () => {
    const [unmounted, library] = [
      { isUsable: true, isEmpty: true },
      { isUsable: true, isEmpty: true },
    ]
    const first = startNode('a', { scans: true, library: unmounted })
    await first.node.firstWalk
    await expect.poll(() => first.problems).toContainEqual({ kind: 'scan-idle' })
    const second = startNode('b', { scans: true, library })
    expect(await second.node.current).toBe('following')
    library.isEmpty = false
    await expect.poll(() => second.node.figures().isScanning).toBe(true)
    expect(first.node.figures().isScanning).toBe(false)
  })

  it('removes what another layout has named, also if a node before has begun to', async () => {
    const first = await scanningNode('a')
    first.writer.apply({
      found: [found('alice/2026-01-31/1'), found('bob/2026-01-31/1')],
      gone: [],
    })
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    await first.stop()
    const layoutOf = async (): Promise<unknown> =>
      queryOnce(url, 'SELECT layout FROM aftercast.library')
    const walk = Promise.withResolvers<void>()
    const options = { scans: true, layout: '2', firstWalk: walk.promise }
    const second = startNode('b', options)
    expect(await second.node.current).toBe('scanning')
    expect(second.catalog.listStreamers()).toEqual([])
    await second.stop()
    expect(await layoutOf()).toEqual([{ layout: '1' }])
    const third = startNode('c', options)
    expect(await third.node.current).toBe('scanning')
    third.writer.apply({ found: [found('carol/2026-01-31/1')], gone: [] })
    walk.resolve()
    await expect.poll(layoutOf).toEqual([{ layout: '2' }])
    await expectSameLists(third, startNode('a'))
    expect(third.catalog.listStreamers()).toEqual([{ name: 'carol', recording_count: 1 }])
  })

  it('discards what it could not publish before another one scanned', async () => {
    const first = await scanningNode('a')
    first.writer.apply({ found: [found('alice/2026-01-31/1')], gone: [] })
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    // As if its claim had expired during a pause of the process.
    await queryOnce(
      url,
      `UPDATE aftercast.library SET scanner = 'another', scanner_until = now() + interval '1 hour'`,
    )
    first.writer.apply({
      found: [found('alice/2026-01-31/1', 5), found('eve/2026-01-31/1')],
      gone: [],
    })
    await expect.poll(() => first.problems).toContainEqual({ kind: 'scan-lost' })
    await expect.poll(() => first.catalog.listStreamers()).toHaveLength(1)
    expect(
      first.catalog.findSession({ streamer: 'alice', date: '2026-01-31', sessionId: '1' }),
    ).toMatchObject({ sizeBytes: 1 })
    expect(await queryOnce(url, `SELECT name FROM aftercast.recordings`)).toHaveLength(1)
  })

  it('publishes the catalog and hidden names that it had without a shared database', async () => {
    const before = openDatabase({ path: path.join(base, 'a', 'catalog.sqlite'), mode: 'write' })
    new CatalogWriter(before).useLayout('1')
    new CatalogWriter(before).apply({
      found: [found('alice/2026-01-31/1'), found('bob/2026-01-31/1')],
      gone: [],
    })
    createLoggedNames(before, () => 5).hide({ kind: 'streamer', streamer: 'bob' }, 'by request')
    before.close()
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE aftercast.hide_log')
    const first = startNode('a', { scans: true })
    const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted
      AND relation = 'aftercast.hide_log'::regclass`
    await expect.poll(async () => queryOnce(url, waiting)).toHaveLength(1)
    // The layout last: until then, other nodes show no name that they hide.
    const library = 'SELECT layout, secret FROM aftercast.library'
    expect(await queryOnce(url, library)).toEqual([{ layout: null, secret: null }])
    await holder.end()
    expect(await first.node.current).toBe('scanning')
    expect(await queryOnce(url, library)).toEqual([{ layout: '1', secret: 'secret of the node' }])
    expect(await queryOnce(url, 'SELECT action, streamer, reason FROM aftercast.hide_log')).toEqual(
      [{ action: 'hide', streamer: 'bob', reason: 'by request' }],
    )
    const second = startNode('b')
    await expect.poll(() => second.catalog.listStreamers()).toHaveLength(1)
    await expectSameLists(first, second)
    expect(() => second.catalog.listSessions('bob')).toThrow('removed')
  })

  it('publishes all recordings but those that the database cannot store', async () => {
    const first = await scanningNode('a')
    // Random, because PostgreSQL compresses long names.
    const long = Array.from({ length: 150 }, () => randomUUID()).join('-')
    const names = Array.from({ length: 20 }, (_, at) => found(`alice/2026-01-31/${at}`))
    first.writer.apply({ found: [...names, found(`bob/2026-01-31/${long}`)], gone: [] })
    const second = startNode('b')
    await expect.poll(() => second.catalog.listSessions('alice')).toHaveLength(20)
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    expect(first.problems.map(({ kind }) => kind)).toEqual(['scan-begins', 'unstorable'])
  })

  it('publishes again what the server has lost in a restart, and others apply it', async () => {
    const first = await scanningNode('a')
    const second = startNode('b')
    const names = ['alice/2026-01-31/1', 'bob/2026-01-31/1', 'carol/2026-01-31/1']
    first.writer.apply({ found: names.slice(0, 2).map((name) => found(name)), gone: [] })
    await expectSameLists(first, second)
    await second.stop()
    first.writer.apply({ found: names.slice(2).map((name) => found(name)), gone: [] })
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    const state = first.replica.state()
    if (state === undefined) throw new Error('the node has no replica')
    await queryOnce(
      url,
      `WITH lost AS (DELETE FROM aftercast.recordings WHERE streamer <> 'alice')
       UPDATE aftercast.library SET generation = generation - 2`,
    )
    first.replica.moveTo({ ...state, epoch: 'before' })
    const rows = async (): Promise<unknown> => queryOnce(url, 'SELECT 1 FROM aftercast.recordings')
    await expect.poll(rows).toHaveLength(3)
    const again = startNode('b')
    again.replica.moveTo({ ...state, epoch: 'before' })
    await expectSameLists(first, again)
    expect(first.node.figures().isScanning).toBe(true)
  })

  it('fills a database that was replaced with an empty one', async () => {
    const first = startNode('a', { scans: true, recreateAfterMs: 0 })
    expect(await first.node.current).toBe('scanning')
    first.writer.apply({
      found: [found('alice/2026-01-31/1'), found('bob/2026-01-31/1')],
      gone: [],
    })
    await addHidden(first.shared, [{ streamer: 'bob', date: '', sessionId: '' }])
    await expect.poll(() => first.catalog.listStreamers()).toHaveLength(1)
    await expect.poll(() => first.node.figures().outbox, soon).toBe(0)
    await queryOnce(url, 'DROP SCHEMA aftercast CASCADE')
    await expect.poll(() => first.counts.prepared, soon).toBe(2)
    const second = startNode('b')
    await expectSameLists(first, second)
    expect(second.catalog.listStreamers()).toEqual([{ name: 'alice', recording_count: 1 }])
    expect(() => second.catalog.listSessions('bob')).toThrow('removed')
  })

  it('continues without the database, and publishes afterwards', async () => {
    const first = await scanningNode('a')
    await queryOnce(url, `ALTER TABLE aftercast.library RENAME TO elsewhere`)
    await expect.poll(() => first.problems.map(({ kind }) => kind)).toContain('down')
    first.writer.apply({ found: [found('alice/2026-01-31/1')], gone: [] })
    expect(first.catalog.listStreamers()).toHaveLength(1)
    expect(first.node.figures()).toMatchObject({ isDatabaseUp: false, outbox: 1 })
    await queryOnce(url, `ALTER TABLE aftercast.elsewhere RENAME TO library`)
    await expect.poll(() => first.node.figures()).toMatchObject({ isDatabaseUp: true, outbox: 0 })
    expect(first.node.figures().isScanning).toBe(true)
    expect(first.counts.drawn).toBeGreaterThan(0)
  })

  it('continues beside a newer release, which has migrated the database', async () => {
    const first = await scanningNode('a')
    const second = startNode('b')
    await second.node.current
    await queryOnce(url, 'INSERT INTO aftercast.migrations VALUES (99)')
    await queryOnce(url, `ALTER TABLE aftercast.library RENAME TO elsewhere`)
    for (const { problems } of [first, second]) {
      await expect.poll(() => problems.map(({ kind }) => kind)).toContain('down')
    }
    await queryOnce(url, `ALTER TABLE aftercast.elsewhere RENAME TO library`)
    first.writer.apply({
      found: [found('alice/2026-01-31/1'), found('bob/2026-01-31/1')],
      gone: [],
    })
    await addHidden(first.shared, [{ streamer: 'bob', date: '', sessionId: '' }])
    await expect.poll(() => isGone(first.catalog, 'bob')).toBe(true)
    await expectSameLists(first, second)
  })

  it('publishes what a backup lacks, and creates no tables while it is restored', async () => {
    const first = await scanningNode('a')
    const second = startNode('b')
    const alice = { streamer: 'alice', date: '', sessionId: '' }
    const names = ['alice/2026-01-31/1', 'bob/2026-01-31/1', 'carol/2026-01-31/1']
    first.writer.apply({ found: names.slice(0, 2).map((name) => found(name)), gone: [] })
    await addHidden(first.shared, [alice])
    await expect.poll(() => isGone(first.catalog, 'alice')).toBe(true)
    await expectSameLists(first, second)
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    const dump = await postgres.dump(url)
    first.writer.apply({ found: [found('carol/2026-01-31/1')], gone: [] })
    first.writer.apply({ found: [], gone: idsOf(first, 'bob/2026-01-31') })
    await expectSameLists(first, second)
    await expect.poll(() => first.node.figures().outbox).toBe(0)
    await queryOnce(url, 'DROP SCHEMA aftercast CASCADE')
    for (const { problems } of [first, second]) {
      await expect.poll(() => problems.map(({ kind }) => kind)).toContain('down')
    }
    await postgres.restore(url, dump)
    const rows = `SELECT streamer FROM aftercast.recordings WHERE removed_at IS NULL ORDER BY 1`
    await expect
      .poll(async () => queryOnce(url, rows))
      .toEqual([{ streamer: 'alice' }, { streamer: 'carol' }])
    first.writer.apply({ found: [found('dora/2026-01-31/1')], gone: [] })
    await expect
      .poll(() => second.catalog.listStreamers().map(({ name }) => name))
      .toEqual(['carol', 'dora'])
    for (const { catalog, counts } of [first, second]) {
      expect(isGone(catalog, 'alice')).toBe(true)
      expect(counts.prepared).toBe(1)
    }
  })

  it('compares all nodes with a backup, also one that has seen more than the others', async () => {
    const first = await scanningNode('a')
    const second = startNode('b')
    first.writer.apply({ found: [found('alice/2026-01-31/1')], gone: [] })
    await expectSameLists(first, second)
    const seen = second.replica.state()
    await second.stop()
    if (seen === undefined) throw new Error('the node has no replica')
    await queryOnce(url, 'UPDATE aftercast.library SET generation = generation - 1')
    for (const name of ['bob', 'carol', 'dora', 'erin']) {
      first.writer.apply({ found: [found(`${name}/2026-01-31/1`)], gone: [] })
      await expect.poll(() => first.node.figures().outbox).toBe(0)
    }
    const again = startNode('b')
    again.replica.moveTo({ ...seen, generation: seen.generation + 2 })
    await expectSameLists(first, again)
  })

  it('is not overtaken by a publication that arrives late', async () => {
    const relay = await startSilentRelay(postgres.port)
    try {
      const first = startNode('a', { scans: true, nodeUrl: relay.through(url) })
      expect(await first.node.current).toBe('scanning')
      relay.silenceAt('INSERT INTO aftercast.recordings')
      first.writer.apply({ found: [found('alice/2026-01-31/1', 5)], gone: [] })
      await expect.poll(() => relay.heldBytes()).toBeGreaterThan(0)
      relay.disconnectClients()
      first.writer.apply({ found: [found('alice/2026-01-31/1', 7)], gone: [] })
      await expect.poll(() => first.node.figures().outbox).toBe(0)
      await relay.deliver()
      expect(await queryOnce(url, 'SELECT version FROM aftercast.recordings')).toEqual([
        { version: 'v7' },
      ])
    } finally {
      await relay.stop()
    }
  })
})
