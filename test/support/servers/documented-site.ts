// Changes a documented configuration of a proxy into one that a test can run.
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findFreePort } from './free-port.ts'
import { connectHttp2 } from './http2-client.ts'
import { TEST_CERTIFICATE, TEST_KEY } from './test-certificate.ts'

/** A site at the root of its host, or with the documented option for a base path. */
export type SiteForm = 'root' | 'base path'

/** Where a proxy listens, on loopback. */
export interface TlsAddress {
  httpsPort: number
  httpPort: number
  /** With https, without a slash at the end. */
  url: string
}

export async function findTlsAddress(): Promise<TlsAddress> {
  const [httpsPort, httpPort] = [await findFreePort(), await findFreePort()]
  return { httpsPort, httpPort, url: `https://127.0.0.1:${httpsPort}` }
}

/** Replaces each line after an option for a base path by that option. */
export function chooseForm(configuration: string, form: SiteForm): string {
  if (form === 'root') return configuration
  const option = /^(?<indent>[ \t]*)# With AFTERCAST_BASE_PATH=\/tv: (?<line>.*)\n.*$/gm
  if (!option.test(configuration)) throw new Error('there is no option for a base path')
  return configuration.replaceAll(option, '$<indent>$<line>')
}

/** Writes the certificate of the tests and its key. Returns the paths of both. */
export async function writeCertificate(
  folder: string,
): Promise<[certificate: string, key: string]> {
  const certificate = path.join(folder, 'certificate.pem')
  const key = path.join(folder, 'key.pem')
  await writeFile(certificate, TEST_CERTIFICATE)
  await writeFile(key, TEST_KEY)
  return [certificate, key]
}

/** Names the certificate of the tests instead of the documented one. */
export async function placeCertificate(folder: string, configuration: string): Promise<string> {
  const [certificate, key] = await writeCertificate(folder)
  return configuration
    .replace('/etc/letsencrypt/live/example.com/fullchain.pem', certificate)
    .replace('/etc/letsencrypt/live/example.com/privkey.pem', key)
}

/** Whether a server with the base path `/tv` responds through the proxy. */
export async function isReadyWithTls(url: string): Promise<boolean> {
  try {
    const client = await connectHttp2(url)
    const { status } = await client.request('/tv/readyz')
    client.close()
    return status === 200
  } catch {
    return false
  }
}
