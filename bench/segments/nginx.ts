// nginx with servers of several configurations, each on a port of its own, in the same workers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findFreePort } from '../../test/support/servers/free-port.ts'

export interface StartedNginx<Form extends string> {
  pid: number
  origins: Record<Form, string>
  stop(): Promise<void>
}

/** How nginx sends segments from files. */
export const FILE_FORMS = {
  // Debian's /etc/nginx/nginx.conf.
  default: 'sendfile on; tcp_nopush on;',
  // Reads of 256 KiB stay in the second cache between read and send, which on loopback beats
  // sendfile.
  tuned: 'sendfile off; tcp_nopush off; output_buffers 2 256k;',
}

interface NginxOptions<Form extends string> {
  /** Directives of each server. */
  servers: Record<Form, string>
  /** Directives that all servers share. */
  shared: readonly string[]
  /** Where a folder of its own can be made. */
  scratch: string
  /** Words before the command. */
  wrapper: string[]
  workers: number
}

export async function startNginx<Form extends string>(
  options: NginxOptions<Form>,
): Promise<StartedNginx<Form>> {
  const { servers, shared, scratch, wrapper, workers } = options
  const folder = path.join(scratch, `nginx-${workers}`)
  mkdirSync(folder, { recursive: true })
  const origins = { ...servers }
  const parts: string[] = []
  for (const form of formsOf(servers)) {
    const address = `127.0.0.1:${await findFreePort()}`
    origins[form] = `http://${address}`
    parts.push(`  server { listen ${address}; ${servers[form]} }`)
  }
  const file = path.join(folder, 'nginx.conf')
  writeFileSync(file, formatConfig([...shared, ...parts], { folder, workers }))
  const words = ['nginx', '-p', folder, '-e', path.join(folder, 'error.log'), '-c', file]
  const [command = '', ...rest] = [...wrapper, ...words]
  const child = spawn(command, rest, { stdio: ['ignore', 'inherit', 'inherit'] })
  const exited = once(child, 'exit')
  for (const form of formsOf(servers)) await waitUntilAnswering(origins[form], exited)
  return {
    pid: child.pid ?? 0,
    origins,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

function formsOf<Form extends string>(servers: Record<Form, string>): Form[] {
  return Object.keys(servers).filter((form): form is Form => form in servers)
}

function formatConfig(
  parts: readonly string[],
  { folder, workers }: { folder: string; workers: number },
): string {
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
    ...parts,
    '}\n',
  ].join('\n')
}

/** An argument of a directive. */
export function quote(text: string): string {
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
