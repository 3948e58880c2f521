// Starts Caddy with the documented configuration, with or without TLS, for a server of a test.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findProgram } from '../../../scripts/programs.mjs'
import { chooseForm, findTlsAddress, isReadyWithTls, writeCertificate } from './documented-site.ts'
import type { SiteForm, TlsAddress } from './documented-site.ts'
import { findFreePort } from './free-port.ts'
import { startProxy } from './start-proxy.ts'
import type { StartedProxy } from './start-proxy.ts'

const CONFIGURATION = path.resolve(import.meta.dirname, '../../../docs/deploy/Caddyfile')

const PROGRAM = { program: findProgram('Caddy'), debianPackage: 'caddy' }

/** Without TLS, for the server at `backend`. Rejects if it does not start. */
export async function startCaddy(backend: string): Promise<StartedProxy> {
  const url = `http://127.0.0.1:${await findFreePort()}`
  const configure = async (folder: string): Promise<string[]> => {
    const documented = await readFile(CONFIGURATION, 'utf8')
    const site = documented.replace('example.com {', `${url} {\n\tbind 127.0.0.1`)
    return writeSite(folder, `{\n\tadmin off\n}\n${site}`, backend)
  }
  return startProxy({ ...PROGRAM, url, configure })
}

/** With TLS, for the server at `backend`. Rejects if it does not start. */
export async function startCaddyWithTls(
  backend: string,
  form: SiteForm,
): Promise<StartedProxy & TlsAddress> {
  const address = await findTlsAddress()
  const { url, httpPort, httpsPort } = address
  const configure = async (folder: string): Promise<string[]> => {
    const [certificate, key] = await writeCertificate(folder)
    const own = `${url} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`
    const documented = chooseForm(await readFile(CONFIGURATION, 'utf8'), form)
    const ports = `\thttp_port ${httpPort}\n\thttps_port ${httpsPort}`
    const site = documented.replace('example.com {', own)
    return writeSite(folder, `{\n\tadmin off\n${ports}\n}\n${site}`, backend)
  }
  const started = await startProxy({ ...PROGRAM, url, configure, isReady: isReadyWithTls })
  return { ...address, ...started }
}

/** Returns the arguments of Caddy. */
async function writeSite(folder: string, site: string, backend: string): Promise<string[]> {
  const file = path.join(folder, 'Caddyfile')
  await writeFile(file, site.replace('127.0.0.1:6081', new URL(backend).host))
  return ['run', '--config', file, '--adapter', 'caddyfile']
}
