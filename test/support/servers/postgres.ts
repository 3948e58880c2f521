// Starts PostgreSQL for tests, without durability: one server for all files of a run, or one of its
// own for a test that stops it.
import { spawn } from 'node:child_process'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findProgram } from '../../../scripts/programs.mjs'
import { afterTests } from '../after-tests.ts'
import { patienceMs } from '../patience.ts'
import { findFreePort } from './free-port.ts'
import { childrenOf } from './start-server.ts'

/** A server on loopback with a random password. */
export interface StartedPostgres {
  port: number
  password: string
  /** URL of a database. */
  urlOf(database: string): string
  /** Creates a database and returns its URL. */
  createDatabase(): Promise<string>
  /** Ends it at once, with all connections; `start` continues with the same data. */
  stop(): Promise<void>
  start(options?: { isShared: boolean }): Promise<void>
  /** A backup of the tables of a database, for `restore`. */
  dump(url: string): Promise<Buffer>
  /** Restores it, step by step as an operator would; rejects if anything is there already. */
  restore(url: string, dump: Buffer): Promise<void>
  /** Stops all of its processes, as if its machine had stopped responding. */
  suspend(): void
  /** Continues them. */
  resume(): void
  /** Ends it and removes its data. */
  remove(): Promise<void>
}

const USER = 'aftercast'
/** PostgreSQL refuses to run as root; this user exists on every Debian. */
export const NOBODY = 65_534

/** Commits are synchronous: what the server has acknowledged survives its end. */
const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'fsync=off',
  'full_page_writes=off',
  'shared_buffers=32MB',
  'max_connections=60',
]

/**
 * A new server, with more settings, in a temporary folder below another. It ends after the tests of
 * the file at the latest.
 */
export async function startPostgres({
  folder: parent = tmpdir(),
  settings: more = [],
}: { folder?: string; settings?: readonly string[] } = {}): Promise<StartedPostgres> {
  const folder = await mkdtemp(path.join(parent, 'aftercast-postgres-'))
  const server = await createServer(folder, more)
  await server.start()
  const remove = async (): Promise<void> => server.stop().then(() => removeFolder(folder))
  afterTests(remove)
  return { ...server, remove }
}

/** The server of this run, which test/support/stop-postgres.ts ends. */
export async function sharedPostgres(folder: string): Promise<StartedPostgres> {
  // One of the files that need it starts it, the others wait.
  if (claim(folder)) {
    const server = await createServer(folder)
    await server.start({ isShared: true })
    writeFileSync(path.join(folder, 'started'), '')
    return server
  }
  const deadlineMs = performance.now() + patienceMs
  while (!existsSync(path.join(folder, 'started'))) {
    if (performance.now() > deadlineMs) throw new Error('the shared PostgreSQL did not start')
    await sleep(50)
  }
  return openServer(folder)
}

function claim(folder: string): boolean {
  try {
    mkdirSync(path.join(folder, 'claimed'))
    return true
  } catch {
    return false
  }
}

async function createServer(
  folder: string,
  more: readonly string[] = [],
): Promise<StartedPostgres> {
  const port = await findFreePort()
  const password = randomUUID()
  writeFileSync(path.join(folder, 'port'), String(port))
  writeFileSync(path.join(folder, 'password'), password)
  if (process.getuid?.() === 0) {
    for (const name of ['', 'password']) chownSync(path.join(folder, name), NOBODY, NOBODY)
  }
  const data = path.join(folder, 'data')
  const access = ['--auth=scram-sha-256', '--username', USER, '--pwfile', `${folder}/password`]
  const locale = ['--locale=C', '--encoding=UTF8']
  await succeed(run('initdb', ['-D', data, '--no-sync', ...access, ...locale], folder))
  return openServer(folder, more)
}

/** The server of a folder; `stop` ends it only in the process that has started it. */
function openServer(folder: string, more: readonly string[] = []): StartedPostgres {
  const port = Number(readFileSync(path.join(folder, 'port'), 'utf8'))
  const password = readFileSync(path.join(folder, 'password'), 'utf8')
  const urlOf = (database: string): string =>
    `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`
  let child: ChildProcess | undefined
  let suspended: number[] = []
  const suspend = (): void => {
    if (child?.pid === undefined) return
    // The first one starts the others.
    child.kill('SIGSTOP')
    suspended = [child.pid, ...childrenOf(child.pid)]
    for (const pid of suspended) process.kill(pid, 'SIGSTOP')
  }
  const resume = (): void => {
    for (const pid of suspended) process.kill(pid, 'SIGCONT')
    suspended = []
  }
  const stop = async (): Promise<void> => {
    if (child === undefined) return
    resume()
    const ended = once(child, 'exit')
    child.kill('SIGQUIT')
    await ended
    child = undefined
  }
  return {
    port,
    password,
    urlOf,
    async createDatabase() {
      const name = `test_${randomUUID().replaceAll('-', '')}`
      await queryOnce(urlOf('postgres'), `CREATE DATABASE ${name}`)
      return urlOf(name)
    },
    dump: async (url) => pipe('pg_dump', ['--schema=aftercast', '--format=custom', url]),
    async restore(url, dump) {
      await pipe('pg_restore', ['--exit-on-error', `--dbname=${url}`], dump)
    },
    stop,
    suspend,
    resume,
    async start({ isShared } = { isShared: false }) {
      const options = [...settings, ...more, `port=${port}`].flatMap((setting) => ['-c', setting])
      child = run('postgres', ['-D', path.join(folder, 'data'), ...options], folder)
      await waitUntilReady(urlOf('postgres'), child)
      // It serves other test files after the end of this one.
      if (isShared) child.unref()
    },
    remove: async () => stop().then(() => removeFolder(folder)),
  }
}

function programPath(name: string): string {
  const postgres = findProgram('PostgreSQL')
  if (postgres === undefined) throw new Error('there is no PostgreSQL: apt-get install postgresql')
  // Not all programs are beside a link to the server.
  return path.join(path.dirname(realpathSync(postgres)), name)
}

function run(name: string, args: readonly string[], folder: string): ChildProcess {
  const identity: SpawnOptions = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  return spawn(programPath(name), args, { ...identity, cwd: folder, stdio: 'ignore' })
}

/** Runs a client program with this input; resolves with its output. */
async function pipe(name: string, args: readonly string[], input?: Buffer): Promise<Buffer> {
  const child = spawn(programPath(name), args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(input ?? '')
  const [output] = await Promise.all([buffer(child.stdout), succeed(child)])
  return output
}

async function succeed(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}`)
}

/** Resolves once a database accepts statements; rejects if the server ends before. */
export async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    try {
      await queryOnce(url, 'SELECT 1')
      return
    } catch (error) {
      if (child.exitCode !== null || performance.now() > deadlineMs) throw error
      await sleep(50)
    }
  }
}

/** Runs one statement on a connection of its own. */
export async function queryOnce(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query(text)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}
