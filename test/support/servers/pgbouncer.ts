// Starts PgBouncer in transaction mode for a server of a test: each statement or transaction may
// run on another connection.
import { spawn } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findProgram } from '../../../scripts/programs.mjs'
import { findFreePort } from './free-port.ts'
import { NOBODY, waitUntilReady } from './postgres.ts'
import type { StartedPostgres } from './postgres.ts'

export interface StartedPgBouncer {
  /** The URL of a database, through PgBouncer. */
  through(url: string): string
  stop(): Promise<void>
}

/** Two connections for all clients, so that these share them. */
export async function startPgBouncer(postgres: StartedPostgres): Promise<StartedPgBouncer> {
  const program = findProgram('PgBouncer')
  if (program === undefined) throw new Error('there is no PgBouncer: apt-get install pgbouncer')
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-pgbouncer-'))
  const port = await findFreePort()
  const configuration = path.join(folder, 'pgbouncer.ini')
  const { username, password } = new URL(postgres.urlOf('postgres'))
  await writeFile(
    configuration,
    `[databases]
* = host=127.0.0.1 port=${postgres.port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
`,
  )
  await chmod(folder, 0o755)
  const identity: SpawnOptions = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn(program, [configuration], { ...identity, stdio: 'ignore' })
  const through = (url: string): string => {
    const own = new URL(url)
    own.port = String(port)
    return own.href
  }
  await waitUntilReady(through(postgres.urlOf('postgres')), child)
  return {
    through,
    async stop() {
      child.kill('SIGKILL')
      if (child.exitCode === null) await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
