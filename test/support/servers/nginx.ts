// Starts nginx with the documented configuration, for a server of a test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findNginx } from '../../../scripts/find/find-nginx.mjs'
import { findFreePort } from './free-port.ts'
import { waitUntilHealthy } from './wait-until-healthy.ts'

const CONFIGURATION = path.resolve(import.meta.dirname, '../../../docs/deploy/nginx.conf')

export interface StartedNginx {
  url: string
  stop(): Promise<void>
}

/** For the server at `backend`. Rejects if it does not start. */
export async function startNginx(backend: string): Promise<StartedNginx> {
  const program = findNginx()
  if (program === undefined) throw new Error('there is no nginx: apt-get install nginx-light')
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-nginx-'))
  const listen = `127.0.0.1:${await findFreePort()}`
  const documented = await readFile(CONFIGURATION, 'utf8')
  const site = documented
    .replace('/var/cache/nginx/aftercast', path.join(folder, 'cache'))
    .replace('127.0.0.1:8080', new URL(backend).host)
    .replace('listen 80;', `listen ${listen};`)
  const file = path.join(folder, 'nginx.conf')
  await writeFile(file, formatMain(folder, site))
  const child = spawn(program, ['-e', 'stderr', '-c', file], { stdio: 'pipe' })
  const url = `http://${listen}`
  await waitUntilHealthy(url, child)
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
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
