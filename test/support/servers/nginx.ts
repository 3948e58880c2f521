// Starts nginx with the documented configuration, for a server of a test.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findNginx } from '../../../scripts/find/find-nginx.mjs'
import { findFreePort } from './free-port.ts'
import { startProxy } from './start-proxy.ts'
import type { StartedProxy } from './start-proxy.ts'

const CONFIGURATION = path.resolve(import.meta.dirname, '../../../docs/deploy/nginx.conf')

/** For the server at `backend`. Rejects if it does not start. */
export async function startNginx(backend: string): Promise<StartedProxy> {
  const program = findNginx()
  if (program === undefined) throw new Error('there is no nginx: apt-get install nginx-light')
  const listen = `127.0.0.1:${await findFreePort()}`
  const configure = async (folder: string): Promise<string[]> => {
    const documented = await readFile(CONFIGURATION, 'utf8')
    const site = documented
      .replace('/var/cache/nginx/aftercast', path.join(folder, 'cache'))
      .replace('127.0.0.1:8080', new URL(backend).host)
      .replace('listen 80;', `listen ${listen};`)
    const file = path.join(folder, 'nginx.conf')
    await writeFile(file, formatMain(folder, site))
    return ['-e', 'stderr', '-c', file]
  }
  return startProxy({ program, url: `http://${listen}`, configure })
}

function formatMain(folder: string, site: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${path.join(folder, kind)};`,
  )
  return [
    'daemon off;',
    // Started as root, a worker would be another user, which may not read the folder.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `pid ${path.join(folder, 'nginx.pid')};`,
    'events {}',
    `http { access_log off; ${temporary.join(' ')}\n${site}\n}\n`,
  ].join('\n')
}
