// Starts Varnish with the documented configuration, for a server of a test.
import { chmod, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findVarnish } from '../../../scripts/find/find-varnish.mjs'
import { startProxy } from './start-proxy.ts'
import type { StartedProxy } from './start-proxy.ts'

const CONFIGURATION = path.resolve(import.meta.dirname, '../../../docs/deploy/varnish.vcl')

/** Listens on `port`, for the server at `backend`. Rejects if it does not start. */
export async function startVarnish(port: number, backend: string): Promise<StartedProxy> {
  const program = findVarnish()
  if (program === undefined) throw new Error('there is no Varnish: apt-get install varnish')
  const listen = `127.0.0.1:${port}`
  const configure = async (folder: string): Promise<string[]> => {
    const file = path.join(folder, 'varnish.vcl')
    const documented = await readFile(CONFIGURATION, 'utf8')
    await writeFile(file, documented.replace('"8080"', `"${new URL(backend).port}"`))
    // Varnish compiles the configuration as another user.
    await chmod(folder, 0o755)
    const run = path.join(folder, 'run')
    return ['-F', '-n', run, '-f', file, '-a', listen, '-s', 'malloc,64m', '-T', 'none']
  }
  return startProxy({ program, url: `http://${listen}`, configure })
}
