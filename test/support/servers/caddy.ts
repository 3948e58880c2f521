// Starts Caddy with the documented configuration, without TLS, for a server of a test.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findCaddy } from '../../../scripts/find/find-caddy.mjs'
import { findFreePort } from './free-port.ts'
import { startProxy } from './start-proxy.ts'
import type { StartedProxy } from './start-proxy.ts'

const CONFIGURATION = path.resolve(import.meta.dirname, '../../../docs/deploy/Caddyfile')

/** For the server at `backend`. Rejects if it does not start. */
export async function startCaddy(backend: string): Promise<StartedProxy> {
  const program = findCaddy()
  if (program === undefined) throw new Error('there is no Caddy: apt-get install caddy')
  const url = `http://127.0.0.1:${await findFreePort()}`
  const configure = async (folder: string): Promise<string[]> => {
    const documented = await readFile(CONFIGURATION, 'utf8')
    const site = documented
      .replace('example.com {', `${url} {\n\tbind 127.0.0.1`)
      .replace('127.0.0.1:6081', new URL(backend).host)
    const file = path.join(folder, 'Caddyfile')
    await writeFile(file, `{\n\tadmin off\n}\n${site}`)
    return ['run', '--config', file, '--adapter', 'caddyfile']
  }
  return startProxy({ program, url, configure })
}
