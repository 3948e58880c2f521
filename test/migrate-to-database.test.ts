// `aftercast migrate`: what an operator has hidden and what visitors did goes to a shared database.
import path from 'node:path'
import { beforeAll, expect, inject, it } from 'vitest'
import { openActivityStore } from '../server/site/analytics/activity-store.ts'
import { queryOnce, sharedPostgres } from './support/servers/postgres.ts'
import { runInProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

let library: TempLibrary
let database: string

beforeAll(async () => {
  database = await (await sharedPostgres(inject('postgresFolder'))).createDatabase()
  library = await createTempLibrary('migrate')
  await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
  await library.place('bob/2026-01-31/1.mp4', SMALL_FIXTURE)
})

async function run(args: string[], environment: NodeJS.ProcessEnv = {}): Promise<ProgramOutcome> {
  return runInProcess([...args, '--data', library.data], {
    workingFolder: library.folder,
    environment: { AFTERCAST_LOG_LEVEL: 'warn', ...environment },
  })
}

it('carries hidden names and counters once, and the catalog with the first scan', async () => {
  const shared = { AFTERCAST_DATABASE_URL: database }
  expect((await run(['scan', library.recordings])).code).toBe(0)
  await run(['hide', 'bob', '--reason', 'by request'])
  const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
  const store = openActivityStore(path.join(library.data, 'analytics.sqlite'))
  const day = new Date().toISOString().slice(0, 10)
  store.add([{ ...session, day, name: 'begin_video', label: '', zone: '', amount: 3 }])
  store.close()

  const migrated = await run(['migrate', '--to', database])
  expect(migrated).toMatchObject({ code: 0, stderr: '' })
  expect(migrated.stdout).toMatch(/^1 hidden name of \S+ is new in the database \S+\n/)
  const repeated = await run(['migrate', '--to', database])
  expect(repeated.stdout).toMatch(/^0 hidden names of /)
  expect((await run(['hide', '--list'], shared)).stdout).toBe('bob\n')
  expect((await run(['hide', '--log'], shared)).stdout).toMatch(/^\S+ hide bob \(by request\)\n$/)
  const stats: unknown = JSON.parse((await run(['stats', '--json'], shared)).stdout)
  expect(stats).toMatchObject({ sessions: [{ ...session, plays: 3 }] })

  const scanned = await run(['scan', library.recordings], shared)
  expect(scanned).toMatchObject({
    code: 0,
    stdout: '1 session of 1 streamer is indexed\n',
    stderr: '',
  })
  const rows = await queryOnce(database, 'SELECT streamer FROM aftercast.recordings ORDER BY 1')
  expect(rows).toEqual([{ streamer: 'alice' }, { streamer: 'bob' }])
})

it('hides old sessions of all nodes, and logs it', async () => {
  const shared = { AFTERCAST_DATABASE_URL: database }
  const aged = await run(['hide', '--older-than', '1d'], shared)
  expect(aged.stdout).toMatch(
    /^alice\/2026-01-31\/1 is hidden\nbob\/2026-01-31\/1 is hidden\n2 sessions are hidden in .*\n$/,
  )
  const again = await run(['hide', '--older-than', '1d'], shared)
  expect(again.stdout).toMatch(/^0 sessions are hidden in the database \S+\n$/)
  expect((await run(['hide', 'alcie'], shared)).stderr).toContain('did you mean alice?')
  expect((await run(['hide', '--undo'], shared)).stdout).toContain('1 name is visible again in ')
  expect((await run(['hide', '--undo'], shared)).stdout).toContain('2 names are visible again in ')
  const log = (await run(['hide', '--log'], shared)).stdout.trimEnd().split('\n')
  expect(log.map((line) => line.split(' ').slice(1).join(' '))).toEqual([
    'hide bob (by request)',
    'hide alice/2026-01-31/1',
    'hide bob/2026-01-31/1',
    'hide alcie',
    'unhide alcie',
    'unhide alice/2026-01-31/1',
    'unhide bob/2026-01-31/1',
  ])
})

it('leaves a replica, which only the database may change', async () => {
  for (const args of [
    ['hide', 'alice'],
    ['scan', library.recordings],
  ]) {
    const { code, stderr } = await run(args)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^aftercast: database: [^\n]*\n$/)])
  }
})

it('is required where the database lacks hidden names of the data folder', async () => {
  const shared = { AFTERCAST_DATABASE_URL: database }
  library.data = path.join(library.folder, 'other-data')
  await run(['scan', library.recordings])
  await run(['hide', 'eve'])
  const { code, stderr } = await run(['scan', library.recordings], shared)
  expect(code).toBe(2)
  expect(stderr).toMatch(/^aftercast: database: .* hidden names .*aftercast migrate --to[^\n]+\n$/)
  await run(['migrate', '--to', database])
  expect((await run(['scan', library.recordings], shared)).code).toBe(0)
  expect((await run(['hide', '--list'], shared)).stdout).toBe('bob\neve\n')
})

it('restores a backup into an empty database, and into no other', async () => {
  const archive = path.join(library.folder, 'site.tar')
  library.data = path.join(library.folder, 'site')
  await run(['scan', library.recordings])
  await run(['hide', 'mallory'])
  expect((await run(['backup', archive])).code).toBe(0)
  library.data = path.join(library.folder, 'refused')
  const refused = await run(['restore', archive], { AFTERCAST_DATABASE_URL: database })
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/^aftercast: database: \S+ is not empty: [^\n]+\n$/),
  ])
  const empty = await (await sharedPostgres(inject('postgresFolder'))).createDatabase()
  const shared = { AFTERCAST_DATABASE_URL: empty }
  library.data = path.join(library.folder, 'restored')
  expect(await run(['restore', archive], shared)).toMatchObject({ code: 0, stderr: '' })
  expect((await run(['hide', '--list'], shared)).stdout).toBe('mallory\n')
  expect((await run(['scan', library.recordings], shared)).code).toBe(0)
})

it('is examined by `doctor`, which changes nothing there', async () => {
  const postgres = await sharedPostgres(inject('postgresFolder'))
  const url = await postgres.createDatabase()
  const examine = async (to: string): Promise<string[]> => {
    const { stdout } = await run(['doctor'], { AFTERCAST_DATABASE_URL: to })
    return stdout.split('\n').filter((line) => line.includes('database: '))
  }
  expect(await examine(url)).toEqual([expect.stringMatching(/^warning .* may do everything: /)])
  const name = new URL(url).pathname.slice(1)
  const user = `owner_${name}`
  await queryOnce(url, `CREATE ROLE ${user} LOGIN PASSWORD '${new URL(url).password}'`)
  const asOwner = Object.assign(new URL(url), { username: user }).href
  expect(await examine(asOwner)).toEqual([
    expect.stringMatching(/^failure .* refuses new schemas: make this user its owner: /),
  ])
  await queryOnce(url, `ALTER DATABASE ${name} OWNER TO ${user}`)
  expect(await examine(asOwner)).toEqual([expect.stringMatching(/^ok .* is PostgreSQL \d+$/)])
  const schemas = await queryOnce(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'aftercast'")
  expect(schemas).toEqual([])
  await queryOnce(url, `ALTER DATABASE ${name} OWNER TO CURRENT_USER`)
  await queryOnce(url, `DROP ROLE ${user}`)
})
