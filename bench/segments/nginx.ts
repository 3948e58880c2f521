// nginx over a folder of segments, with Debian's configuration and with a tuned one, on two ports
// of the same workers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findFreePort } from '../../test/support/servers/free-port.ts'

/** How nginx sends segments. */
export type NginxForm = 'default' | 'tuned'

export interface StartedNginx {
  pid: number
  origins: Record<NginxForm, string>
  stop(): Promise<void>
}

const FORMS: Record<NginxForm, string> = {
  // Debian's /etc/nginx/nginx.conf.
  default: 'sendfile on; tcp_nopush on;',
  // Reads of 256 KiB stay in the second cache between read and send, which on loopback beats
  // sendfile.
  tuned: 'sendfile off; tcp_nopush off; output_buffers 2 256k;',
}

interface NginxOptions {
  /** Of the files. */
  root: string
  /** Where a folder of its own can be made. */
  scratch: string
  /** Words before the command. */
  wrapper: string[]
  workers: number
}

export async function startNginx(options: NginxOptions): Promise<StartedNginx> {
  const { root, scratch, wrapper, workers } = options
  const folder = path.join(scratch, `nginx-${workers}`)
  mkdirSync(folder, { recursive: true })
  const ports = { default: await findFreePort(), tuned: await findFreePort() }
  const file = path.join(folder, 'nginx.conf')
  writeFileSync(file, formatConfig({ root, folder, ports, workers }))
  const words = ['nginx', '-p', folder, '-e', path.join(folder, 'error.log'), '-c', file]
  const [command = '', ...rest] = [...wrapper, ...words]
  const child = spawn(command, rest, { stdio: ['ignore', 'inherit', 'inherit'] })
  const exited = once(child, 'exit')
  const origin = (form: NginxForm): string => `http://127.0.0.1:${ports[form]}`
  await waitUntilAnswering(origin('tuned'), exited)
  return {
    pid: child.pid ?? 0,
    origins: { default: origin('default'), tuned: origin('tuned') },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

interface ConfigParts {
  root: string
  folder: string
  ports: Record<NginxForm, number>
  workers: number
}

function formatConfig({ root, folder, ports, workers }: ConfigParts): string {
  const server = (form: NginxForm): string =>
    `  server { listen 127.0.0.1:${ports[form]}; root ${quote(root)}; ${FORMS[form]} }`
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `  ${kind}_temp_path ${quote(path.join(folder, kind))};`,
  )
  return [
    'daemon off;',
    // Started as root, a worker would be `nobody`, which may not read the caller's files.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `worker_processes ${workers};`,
    `pid ${quote(path.join(folder, 'nginx.pid'))};`,
    'events { worker_connections 768; }',
    'http {',
    ...temporary,
    // Ours writes no access log either.
    '  access_log off;',
    server('default'),
    server('tuned'),
    '}\n',
  ].join('\n')
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

async function waitUntilAnswering(origin: string, exited: Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await fetch(origin).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer !== undefined) return
    const isOver = await Promise.race([exited.then(() => true), pause(50, false)])
    if (isOver) break
  }
  throw new Error('nginx did not start')
}
