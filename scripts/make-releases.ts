// Makes the fixtures of releases: what the program of each one leaves behind in its data folder and
// database. `node scripts/make-releases.ts [NAME…]`; it installs old packages, into a temporary
// folder.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { create } from 'tar'
import { activityApiPath, playlistApiPath } from '../shared/paths.ts'
import {
  GROWN,
  HIDDEN_NAMES,
  LARGE,
  placeReleaseLibrary,
  PLAYS,
  readImmutable,
  WATCHED,
} from '../test/support/make/release-library.ts'
import { queryOnce, startPostgres } from '../test/support/servers/postgres.ts'
import { startServer } from '../test/support/servers/start-server.ts'
import type { StartedServer } from '../test/support/servers/start-server.ts'
import { createTempLibrary } from '../test/support/temp-library.ts'

interface Release {
  name: string
  commit: string
  /** With a shared database. */
  isCluster: boolean
}

/** Why these commits: test/fixtures/releases/README.md. */
const RELEASES: readonly Release[] = [
  { name: '0.1.0', commit: '258d0562', isCluster: false },
  { name: '0.2.0', commit: '2c1fcdc3', isCluster: false },
  { name: '0.2.0-cluster-1', commit: 'd618377e', isCluster: true },
  { name: '0.2.0-cluster-6', commit: '1e7457e6', isCluster: true },
  { name: '1.0.0', commit: '9fd19897', isCluster: false },
  { name: '1.0.0-cluster', commit: '9fd19897', isCluster: true },
]
const THIS_CHECKOUT = path.resolve(import.meta.dirname, '..')
const TARGET = path.join(THIS_CHECKOUT, 'test/fixtures/releases')
/** Of the data folder: locks, and what is made again. */
const LEFT_OUT = /^(?:lock\.sqlite|thumbnails|storyboards|page-assets|.*-wal|.*-shm)$/
/** The scripts of its page are those of this checkout. */
const WITHOUT_PAGE = `DO $$ BEGIN TRUNCATE aftercast.releases CASCADE;
  EXCEPTION WHEN undefined_table THEN NULL; END $$`

const names = process.argv.slice(2)
for (const release of RELEASES) {
  if (names.length === 0 || names.includes(release.name)) await makeFixture(release)
}

async function makeFixture(release: Release): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'aftercast-release-'))
  const checkout = path.join(folder, 'checkout')
  const fixture = path.join(folder, 'fixture')
  mkdirSync(fixture)
  const postgres = release.isCluster ? await startPostgres() : undefined
  try {
    prepareCheckout(checkout, release)
    const database = await postgres?.createDatabase()
    const said = await runRelease(checkout, { fixture, database })
    writeFileSync(path.join(fixture, 'said.json'), JSON.stringify(said))
    if (postgres !== undefined && database !== undefined) {
      await queryOnce(database, WITHOUT_PAGE)
      writeFileSync(path.join(fixture, 'database.dump'), await postgres.dump(database))
    }
    const file = path.join(TARGET, `${release.name}.tar.gz`)
    await create({ file, cwd: fixture, gzip: { level: 9 }, portable: true }, readdirSync(fixture))
  } finally {
    await postgres?.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The commit with its packages. The page leaves nothing behind: that of this checkout will do. */
function prepareCheckout(checkout: string, { commit }: Release): void {
  mkdirSync(checkout)
  const archive = execFileSync('git', ['archive', commit], {
    cwd: THIS_CHECKOUT,
    maxBuffer: 1024 ** 3,
  })
  execFileSync('tar', ['-x'], { cwd: checkout, input: archive })
  execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], {
    cwd: checkout,
    stdio: ['ignore', 2, 2],
  })
  cpSync(path.join(THIS_CHECKOUT, 'dist/web'), path.join(checkout, 'dist/web'), { recursive: true })
}

interface Made {
  fixture: string
  database: string | undefined
}

/** Returns the responses that may be cached for ever. */
async function runRelease(checkout: string, { fixture, database }: Made): Promise<object> {
  const library = await createTempLibrary('release')
  const environment = { AFTERCAST_WORKERS: '1', AFTERCAST_DATABASE_URL: database }
  let server: StartedServer | undefined
  try {
    await placeReleaseLibrary(library, 'growing')
    server = await startServer({ checkout, args: library.args, environment })
    const said = {}
    for (const session of [WATCHED, LARGE, GROWN]) {
      await untilPlayable(server, session)
      Object.assign(said, await readImmutable(server, session))
    }
    await play(server)
    for (const name of HIDDEN_NAMES) {
      const hide = ['server/main.ts', 'hide', name, '--data', library.data]
      execFileSync(process.execPath, hide, {
        cwd: checkout,
        env: { ...process.env, ...environment },
        stdio: ['ignore', 2, 2],
      })
    }
    await server.stop()
    const data = path.join(fixture, 'data')
    renameSync(library.data, data)
    for (const name of readdirSync(data)) {
      if (LEFT_OUT.test(name)) rmSync(path.join(data, name), { recursive: true })
    }
    if (!existsSync(path.join(data, 'hls-secret'))) throw new Error('there is no secret')
    return said
  } finally {
    await server?.stop()
    await library.remove()
  }
}

async function untilPlayable(
  server: StartedServer,
  session: Parameters<typeof playlistApiPath>[0],
): Promise<void> {
  for (;;) {
    const { status } = await fetch(server.url + playlistApiPath(session))
    if (status === 200) return
    if (status !== 503 && status !== 404) throw new Error(`${status}: ${server.output()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function play(server: StartedServer): Promise<void> {
  const event = { name: 'begin_video', ...WATCHED }
  const response = await fetch(server.url + activityApiPath, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Array.from({ length: PLAYS }, () => event)),
  })
  if (response.status !== 204) throw new Error(`the counters answered ${response.status}`)
}
