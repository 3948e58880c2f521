// Starts nginx with the documented configuration, with or without TLS, for a server of a test.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findProgram } from '../../../scripts/programs.mjs'
import { chooseForm, findTlsAddress, isReadyWithTls, placeCertificate } from './documented-site.ts'
import type { SiteForm, TlsAddress } from './documented-site.ts'
import { findFreePort } from './free-port.ts'
import { startProxy } from './start-proxy.ts'
import type { StartedProxy } from './start-proxy.ts'

const FOLDER = path.resolve(import.meta.dirname, '../../../docs/deploy')
const CONFIGURATION = path.join(FOLDER, 'nginx.conf')
const EGRESS_LIMITS = path.join(FOLDER, 'nginx-egress.conf')
/** A client that a test names. */
const NAMED_CLIENTS = 'set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;'

export const NGINX = { program: findProgram('nginx'), debianPackage: 'nginx-light' }

/** Without TLS, for the server at `backend`. Rejects if it does not start. */
export async function startNginx(
  backend: string,
  { withEgressLimits = false } = {},
): Promise<StartedProxy> {
  const listen = `127.0.0.1:${await findFreePort()}`
  const configure = async (folder: string): Promise<string[]> => {
    const documented = await readFile(CONFIGURATION, 'utf8')
    const site = documented
      .replace(/^server \{\n {4}listen 80;.*?^\}$/ms, '')
      .replace('listen 443 ssl http2;', `listen ${listen};`)
      .replaceAll(/^ +ssl_.*$/gm, '')
    if (!withEgressLimits) return writeSite(folder, site, backend)
    const limits = NAMED_CLIENTS + (await readFile(EGRESS_LIMITS, 'utf8'))
    // A test decides when a response ends.
    const patient = site.replace('proxy_read_timeout 15s;', 'proxy_read_timeout 600s;')
    return writeSite(folder, limits + patient, backend)
  }
  return startProxy({ ...NGINX, url: `http://${listen}`, configure })
}

/** With TLS, for the server at `backend`. Rejects if it does not start. */
export async function startNginxWithTls(
  backend: string,
  form: SiteForm,
): Promise<StartedProxy & TlsAddress> {
  const address = await findTlsAddress()
  const { url, httpPort, httpsPort } = address
  const configure = async (folder: string): Promise<string[]> => {
    const documented = chooseForm(await readFile(CONFIGURATION, 'utf8'), form)
    const site = (await placeCertificate(folder, documented))
      .replace('listen 80;', `listen 127.0.0.1:${httpPort};`)
      .replace('listen 443 ', `listen 127.0.0.1:${httpsPort} `)
      .replace('https://example.com', url)
    return writeSite(folder, site, backend)
  }
  const started = await startProxy({ ...NGINX, url, configure, isReady: isReadyWithTls })
  return { ...address, ...started }
}

/** Returns the arguments of nginx. */
async function writeSite(folder: string, site: string, backend: string): Promise<string[]> {
  // As /var/cache of a fresh Debian: without a folder of nginx.
  const cache = path.join(folder, 'cache')
  await mkdir(cache)
  const placed = site
    .replace('/var/cache/', `${cache}/`)
    .replace('127.0.0.1:8080', new URL(backend).host)
  return writeNginxConfig(folder, placed)
}

interface NginxSettings {
  /** Default one. */
  workers?: number
  /** Path of a dynamic module. Default none. */
  module?: string | undefined
}

/** Writes a configuration with these directives of `http`. Returns the arguments of nginx. */
export async function writeNginxConfig(
  folder: string,
  http: string,
  { workers = 1, module }: NginxSettings = {},
): Promise<string[]> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${path.join(folder, kind)};`,
  )
  const main = [
    'daemon off;',
    ...(module === undefined ? [] : [`load_module ${module};`]),
    // Started as root, a worker would be another user, which may not read the folder.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `worker_processes ${workers};`,
    `pid ${path.join(folder, 'nginx.pid')};`,
    'events {}',
    `http { access_log off; ${temporary.join(' ')}\n${http}\n}\n`,
  ]
  const file = path.join(folder, 'nginx.conf')
  await writeFile(file, main.join('\n'))
  return ['-e', 'stderr', '-c', file]
}
