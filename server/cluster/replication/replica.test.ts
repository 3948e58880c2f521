// A replica that is fed through PostgreSQL equals the catalog of the scanning node after every
// sequence of changes, by changes and by snapshots.
import fc from 'fast-check'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, expect, inject, it } from 'vitest'
import { sharedPostgres } from '../../../test/support/servers/postgres.ts'
import type { StartedPostgres } from '../../../test/support/servers/postgres.ts'
import { CatalogWriter } from '../../library/catalog/store/catalog-writer.ts'
import type { FoundRecording } from '../../library/catalog/store/catalog-writer.ts'
import { openDatabase } from '../../library/catalog/store/database.ts'
import type { Database } from '../../library/catalog/store/database.ts'
import { createHiddenNames } from '../../library/catalog/store/hidden.ts'
import { listImperfect } from '../../library/catalog/store/imperfect.ts'
import { openOutbox } from '../../library/catalog/store/outbox.ts'
import { openHiddenReplica } from '../../library/catalog/store/replica-hidden.ts'
import type { HiddenReplica } from '../../library/catalog/store/replica-hidden.ts'
import type { ReplicaPosition } from '../../library/catalog/store/replica-position.ts'
import { Replica } from '../../library/catalog/store/replica.ts'
import { createCatalog } from '../../library/catalog/store/sqlite-catalog.ts'
import type { Catalog } from '../../library/catalog/catalog.ts'
import { claimScan, describeLibrary, readLibrary } from '../postgres/library-row.ts'
import { migrateSharedDatabase } from '../postgres/migrations.ts'
import { openSharedDatabase } from '../postgres/shared-database.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'
import { changeHidden } from '../postgres/shared-hidden.ts'
import { sql } from '../postgres/sql.ts'
import { applyHidden } from './follow-hidden.ts'
import { follow } from './follow.ts'
import { publishOutbox } from './publish.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

const NAMES = ['alice', 'Bob', 'é']
const DATES = ['2026-01-31', '2026-02-01']
const IDS = ['1', '2']
const TOKEN = 'scanner'

let postgres: StartedPostgres

beforeAll(async () => {
  postgres = await sharedPostgres(inject('postgresFolder'))
})

/** One change of a library with few names, so that changes meet. */
const change = fc.record({
  kind: fc.constantFrom(
    'find',
    'find',
    'remove',
    'inspect',
    'title',
    'hide',
    'unhide',
    'layout',
    'restart',
  ),
  streamer: fc.constantFrom(...NAMES),
  date: fc.constantFrom(...DATES),
  id: fc.constantFrom(...IDS),
  file: fc.constantFrom('1.mp4', '1.ts', '2.mp4'),
  size: fc.nat(3),
  isWhole: fc.boolean(),
})
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** Followed by another layout, the same file is another session. */
const found: Change = {
  kind: 'find',
  streamer: 'alice',
  date: '2026-01-31',
  id: '1',
  file: '1.mp4',
  size: 2,
  isWhole: false,
}

interface Pair {
  shared: SharedDatabase
  scanned: Database
  writer: CatalogWriter
  /** Of the scanning node. */
  replica: Replica
  publish: () => Promise<void>
  other: Replica
  /** Of both nodes. */
  hidden: HiddenReplica[]
  /** Identity of the layout, by which the same file is another session. */
  layout: string
}

it('has the lists, sessions and rows of the scanning node', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 25 }), async (changes) => {
      const base = makeTempFolder('replica')
      const shared = openSharedDatabase(await postgres.createDatabase(), () => undefined)
      await migrateSharedDatabase(shared)
      await claimScan(shared, TOKEN)
      const open = (name: string, replica: 'scan' | 'follow'): Database =>
        openDatabase({ path: path.join(base, name, 'catalog.sqlite'), mode: 'write', replica })
      const [scanned, own, other] = [open('a', 'scan'), open('a', 'follow'), open('b', 'follow')]
      try {
        const outbox = openOutbox(own)
        const onUnstorable = (): never => expect.fail('every row can be stored')
        const pair: Pair = {
          shared,
          scanned,
          writer: new CatalogWriter(scanned),
          replica: new Replica(own),
          publish: async () => {
            await publishOutbox({ database: shared, outbox, token: TOKEN, onUnstorable }, 100)
          },
          other: new Replica(other),
          hidden: [own, other].map((database) => openHiddenReplica(database)),
          layout: '1',
        }
        pair.writer.useLayout('1')
        await describeLibrary(shared, TOKEN, { layout: '1', isWalked: true })
        const [catalog, otherCatalog] = [createCatalog(scanned), createCatalog(other)]
        const expectSameContent = (): void => {
          const content = contentOf(catalog, scanned)
          expect(contentOf(otherCatalog, other)).toEqual(content)
          // Without the lists that it has cached since the first change.
          expect(contentOf(createCatalog(other), other)).toEqual(content)
        }
        for (const [at, one] of changes.entries()) {
          await make(one, pair)
          if (at % 3 !== 0) continue
          await synchronise(pair)
          expectSameContent()
        }
        await synchronise(pair)
        expectSameContent()
      } finally {
        for (const database of [scanned, own, other]) database.close()
        await shared.destroy()
        rmSync(base, { recursive: true, force: true })
      }
    }),
    { numRuns: 12, examples: [[[found, { ...found, kind: 'layout' }]]] },
  )
})

async function synchronise({ shared, replica, publish, other, hidden }: Pair): Promise<void> {
  await publish()
  const library = await readLibrary(shared)
  const { identity, epoch, generation } = library
  for (const one of hidden) expect(await applyHidden({ database: shared, hidden: one })).toBe(true)
  replica.moveTo({ identity, epoch, generation })
  const following = {
    database: shared,
    replica: other,
    onInvalid: neverInvalid,
    snapshot: undefined,
  }
  expect(await follow(following, library, new AbortController().signal)).toBe(true)
}

function neverInvalid(): never {
  return expect.fail('all rows are valid')
}

it('continues a snapshot where a failure has interrupted it', async () => {
  const base = makeTempFolder('replica')
  const shared = openSharedDatabase(await postgres.createDatabase(), () => undefined)
  const open = (name: string): Database =>
    openDatabase({ path: path.join(base, name), mode: 'write', replica: 'follow' })
  const [own, other] = [open('a'), open('b')]
  try {
    await migrateSharedDatabase(shared)
    await claimScan(shared, TOKEN)
    const pair = { layout: '1' }
    const [first, last] = [foundOf(found, pair), foundOf({ ...found, streamer: 'é' }, pair)]
    new CatalogWriter(own).apply({ found: [first, last], gone: [] })
    const outbox = openOutbox(own)
    outbox.addAll()
    const onUnstorable = (): never => expect.fail('every row can be stored')
    await publishOutbox({ database: shared, outbox, token: TOKEN, onUnstorable }, 1)
    await describeLibrary(shared, TOKEN, { layout: '1', isWalked: true })
    const library = await readLibrary(shared)
    const replica = new Replica(other)
    const catalog = createCatalog(other)
    const streamersAfter = async (from: ReplicaPosition): Promise<string[]> => {
      const position = { ...library, epoch: '', generation: 0 }
      replica.moveTo(position)
      const after = { folder: first.folder, name: first.name }
      const following = { database: shared, replica, onInvalid: neverInvalid }
      const snapshot = { from, position, after }
      const { signal } = new AbortController()
      expect(await follow({ ...following, snapshot }, library, signal)).toBe(true)
      return catalog.listStreamers().map(({ name }) => name)
    }
    expect(await streamersAfter(library)).toEqual(['é'])
    expect(await streamersAfter({ ...library, epoch: 'another' })).toEqual(['alice', 'é'])
  } finally {
    for (const database of [own, other]) database.close()
    await shared.destroy()
    rmSync(base, { recursive: true, force: true })
  }
})

it('removes what a snapshot lacks in short steps', async () => {
  const base = makeTempFolder('replica')
  const shared = openSharedDatabase(await postgres.createDatabase(), () => undefined)
  const file = path.join(base, 'a')
  const database = openDatabase({ path: file, mode: 'write', replica: 'follow' })
  const watching = new AbortController()
  try {
    await migrateSharedDatabase(shared)
    await claimScan(shared, TOKEN)
    await describeLibrary(shared, TOKEN, { layout: '1', isWalked: true })
    const writer = new CatalogWriter(database)
    const recording = foundOf(found, { layout: '1' })
    const names = Array.from({ length: 5000 }, (_, number) => `${number}.mp4`)
    writer.apply({ found: names.map((name) => ({ ...recording, name })), gone: [] })
    const steps: number[] = []
    let known = writer.countRecordings()
    const watch = async (): Promise<void> => {
      while (!watching.signal.aborted) {
        await nextTurn()
        const now = writer.countRecordings()
        steps.push(known - now)
        known = now
      }
    }
    const watched = watch()
    const replica = new Replica(database)
    const following = { database: shared, replica, onInvalid: neverInvalid, snapshot: undefined }
    expect(await follow(following, await readLibrary(shared), watching.signal)).toBe(true)
    expect(writer.countRecordings()).toBe(0)
    watching.abort()
    await watched
    // Two, if this turn comes before the next one.
    expect(Math.max(...steps)).toBeLessThanOrEqual(1000)
  } finally {
    watching.abort()
    database.close()
    await shared.destroy()
    rmSync(base, { recursive: true, force: true })
  }
})

it('notices a restored backup with as many changes as it lacks', async () => {
  const base = makeTempFolder('replica')
  const shared = openSharedDatabase(await postgres.createDatabase(), () => undefined)
  const database = openDatabase({ path: path.join(base, 'a'), mode: 'write', replica: 'follow' })
  try {
    await migrateSharedDatabase(shared)
    await claimScan(shared, TOKEN)
    await describeLibrary(shared, TOKEN, { layout: '1', isWalked: true })
    const hidden = openHiddenReplica(database)
    const names = createHiddenNames(database)
    const set = async (action: 'hide' | 'unhide', streamer: string) =>
      changeHidden(shared, { action, streamer, date: '', sessionId: '', atMs: 1, reason: '' })
    const poll = async () => expect(await applyHidden({ database: shared, hidden })).toBe(true)
    await set('hide', 'alice')
    await sql`CREATE TABLE backup_library AS TABLE aftercast.library`.execute(shared)
    await sql`CREATE TABLE backup_hidden AS TABLE aftercast.hidden`.execute(shared)
    await set('hide', 'bob')
    await poll()
    await sql`TRUNCATE aftercast.library, aftercast.hidden`.execute(shared)
    await sql`INSERT INTO aftercast.library TABLE backup_library`.execute(shared)
    await sql`INSERT INTO aftercast.hidden TABLE backup_hidden`.execute(shared)
    await set('unhide', 'alice')
    await poll()
    expect(names.list()).toEqual([])
  } finally {
    database.close()
    await shared.destroy()
    rmSync(base, { recursive: true, force: true })
  }
})

async function make(one: Change, pair: Pair): Promise<void> {
  const { shared, writer, other } = pair
  const { kind, streamer, date, id, isWhole } = one
  const folder = `${streamer}/${date}`
  const { recordings } = writer.readFolder(folder)
  const name = isWhole ? { streamer, date: '', sessionId: '' } : { streamer, date, sessionId: id }
  switch (kind) {
    case 'find':
      return writer.apply({ found: [foundOf(one, pair)], gone: [] })
    case 'remove':
      if (isWhole) writer.removeSome(folder, 100)
      else writer.apply({ found: [], gone: recordings.slice(0, 1).map((known) => known.id) })
      return
    case 'inspect':
      return inspect(one, writer)
    case 'title':
      return title(one, writer)
    case 'hide':
    case 'unhide':
      return void (await changeHidden(shared, { ...name, action: kind, atMs: 1, reason: '' }))
    case 'layout':
      pair.layout = `${one.size}`
      writer.useLayout(pair.layout)
      for (const file of ['1.mp4', '1.ts', '2.mp4'] as const) {
        writer.apply({ found: [foundOf({ ...one, file }, pair)], gone: [] })
      }
      return
    case 'restart':
      // What is removed while the other node does not follow, is not recorded when it continues.
      writer.removeSome(folder, 100)
      other.moveTo({ ...(await readLibrary(shared)), generation: 0 })
  }
}

function foundOf(
  { streamer, date, id, file, size }: Change,
  { layout }: Pick<Pair, 'layout'>,
): FoundRecording {
  return {
    folder: `${streamer}/${date}`,
    name: `${id}-${file}`,
    kind: file === '1.ts' ? 'folder' : 'file',
    stat: { sizeBytes: size, modifiedMs: 1000 + size, version: `v${size}` },
    match: {
      session: { streamer, date, sessionId: layout === '1' ? id : `${id}-${layout}` },
      rank: file === '1.ts' ? 0 : 1,
    },
    settlesAtMs: 2000,
    sidecars: size === 0 ? '' : `s${size}`,
  }
}

function title({ size, isWhole }: Change, writer: CatalogWriter): void {
  const [recording] = writer.untitled(1)
  if (recording === undefined) return
  const { id, sidecars } = recording
  const facts = { ...(isWhole && { title: `é ${size}` }), startMs: size }
  writer.recordTitles([{ id, sidecars, facts }])
}

function inspect({ size, isWhole }: Change, writer: CatalogWriter): void {
  const [recording] = writer.duePending(Date.now(), 10)
  if (recording === undefined) return
  const rest = { recordedStartMs: isWhole ? size : null, restUntilMs: size }
  const retry = { retryAtMs: 0, attempts: 0 }
  const playable = { status: 'playable', durationSeconds: size / 3, reason: null } as const
  const reason = JSON.stringify({ code: 'file-empty' })
  const unplayable = { status: 'unplayable', durationSeconds: null, reason } as const
  const flawed = size === 1 ? 1 : 0
  const known = isWhole ? playable : unplayable
  writer.record([{ recording, result: { ...known, flawed, ...rest, ...retry } }])
}

/** Everything that visitors and commands get. */
function contentOf(catalog: Catalog, database: Database): unknown {
  return {
    streamers: catalog.listStreamers(),
    sessions: NAMES.map((name) => [
      orMessage(() => [catalog.listSessions(name), catalog.hasStreamer(name)]),
      orMessage(() => catalog.listDetails(name)),
      orMessage(() => catalog.newestSessions(name, 100)),
      orMessage(() => catalog.sessionsAfter(name, undefined, 100)),
    ]),
    rows: NAMES.flatMap((streamer) =>
      DATES.flatMap((date) =>
        IDS.map((sessionId) => orMessage(() => catalog.findSession({ streamer, date, sessionId }))),
      ),
    ),
    imperfect: listImperfect(database),
  }
}

/** A catalog throws for what is hidden. */
function orMessage(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return error instanceof Error ? error.message : error
  }
}
