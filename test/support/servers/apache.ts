// Starts Apache with the documented configuration and Debian's modules, for a server of a test.
import { chmod, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findProgram } from '../../../scripts/programs.mjs'
import { chooseForm, findTlsAddress, isReadyWithTls, placeCertificate } from './documented-site.ts'
import type { SiteForm, TlsAddress } from './documented-site.ts'
import { startProxy } from './start-proxy.ts'
import type { StartedProxy } from './start-proxy.ts'

const CONFIGURATION = path.resolve(import.meta.dirname, '../../../docs/deploy/apache.conf')
const MODULES = '/usr/lib/apache2/modules'
/** Those that the configuration enables, and what Debian enables that could change responses. */
const ENABLED = [
  'mpm_event authz_core alias env headers http2 proxy proxy_http ssl',
  'mime filter deflate negotiation reqtimeout setenvif',
].flatMap((names) => names.split(' '))
const DEBIAN_FILES = ['deflate', 'mime', 'reqtimeout', 'setenvif'].map(
  (name) => `/etc/apache2/mods-available/${name}.conf`,
)

const PROGRAM = { program: findProgram('Apache'), debianPackage: 'apache2' }

/** With TLS, for the server at `backend`. Rejects if it does not start. */
export async function startApache(
  backend: string,
  form: SiteForm,
): Promise<StartedProxy & TlsAddress> {
  const address = await findTlsAddress()
  const configure = async (folder: string): Promise<string[]> => {
    const documented = chooseForm(await readFile(CONFIGURATION, 'utf8'), form)
    const site = (await placeCertificate(folder, documented))
      .replaceAll('127.0.0.1:8080', new URL(backend).host)
      .replaceAll('https://example.com', address.url)
      .replace('*:80>', `127.0.0.1:${address.httpPort}>`)
      .replace('*:443>', `127.0.0.1:${address.httpsPort}>`)
    const file = path.join(folder, 'apache2.conf')
    await writeFile(file, `${formatMain(folder, address)}\n${site}`)
    // Its processes are another user's.
    await chmod(folder, 0o755)
    return ['-f', file, '-D', 'FOREGROUND']
  }
  const { url } = address
  const started = await startProxy({ ...PROGRAM, url, configure, isReady: isReadyWithTls })
  return { ...address, ...started }
}

function formatMain(folder: string, { httpsPort, httpPort }: TlsAddress): string {
  return [
    ...ENABLED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
    `ServerRoot ${folder}`,
    `DefaultRuntimeDir ${folder}`,
    `PidFile ${path.join(folder, 'apache2.pid')}`,
    'TypesConfig /etc/mime.types',
    `ErrorLog ${path.join(folder, 'error.log')}`,
    'ServerName 127.0.0.1',
    ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
    ...[httpPort, httpsPort].map((port) => `Listen 127.0.0.1:${port}`),
    ...DEBIAN_FILES.map((file) => `Include ${file}`),
  ].join('\n')
}
