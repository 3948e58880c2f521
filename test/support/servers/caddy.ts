// Starts Caddy with the documented configuration, without TLS, for a server of a test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findCaddy } from '../../../scripts/find/find-caddy.mjs'
import { findFreePort } from './free-port.ts'
import { waitUntilHealthy } from './wait-until-healthy.ts'

const CONFIGURATION = path.resolve(import.meta.dirname, '../../../docs/deploy/Caddyfile')

export interface StartedCaddy {
  url: string
  stop(): Promise<void>
}

/** For the server at `backend`. Rejects if it does not start. */
export async function startCaddy(backend: string): Promise<StartedCaddy> {
  const program = findCaddy()
  if (program === undefined) throw new Error('there is no Caddy: apt-get install caddy')
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-caddy-'))
  const url = `http://127.0.0.1:${await findFreePort()}`
  const documented = await readFile(CONFIGURATION, 'utf8')
  const site = documented
    .replace('example.com {', `${url} {\n\tbind 127.0.0.1`)
    .replace('127.0.0.1:6081', new URL(backend).host)
  const file = path.join(folder, 'Caddyfile')
  await writeFile(file, `{\n\tadmin off\n}\n${site}`)
  const args = ['run', '--config', file, '--adapter', 'caddyfile']
  const child = spawn(program, args, { stdio: 'pipe', env: { ...process.env, HOME: folder } })
  await waitUntilHealthy(url, child)
  return {
    url,
    stop: async () => {
      child.kill()
      if (child.exitCode === null) await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
