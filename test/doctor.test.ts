// `aftercast doctor`: what it says of a machine and a configuration, and what it leaves alone.
import { createServer, request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { mkdir, readdir } from 'node:fs/promises'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { examineWithin } from '../server/app/commands/doctor.ts'
import { loadConfig } from '../server/base/config/load-config.ts'
import { createFailingWrites } from './support/servers/failing-writes.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { captureIo, runInNewProcess, runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import { TEST_CERTIFICATE, TEST_KEY } from './support/servers/test-certificate.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

let library: TempLibrary
let port: number

beforeAll(async () => {
  library = await createTempLibrary('doctor')
  await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
  port = await findFreePort()
})

interface Examined {
  code: unknown
  /** Of the findings about one key. */
  lines: string[]
}

/** Examines the library, with the data folder of no server. */
async function examine(key: string, settings: NodeJS.ProcessEnv = {}): Promise<Examined> {
  const { code, stdout, stderr } = await runInProcess(['doctor'], {
    workingFolder: library.folder,
    environment: {
      PATH: process.env.PATH,
      PORT: String(port),
      AFTERCAST_RECORDINGS: library.recordings,
      AFTERCAST_DATA: path.join(library.folder, 'unmade'),
      ...settings,
    },
  })
  const all = stdout.trimEnd().split('\n')
  const count = (level: string): number => all.filter((line) => line.startsWith(level)).length
  expect(all.length).toBe(count('ok') + count('warning') + count('failure'))
  expect(stderr).toMatch(new RegExp(`^${count('failure')} failures?, ${count('warning')} warn`))
  expect(code).toBe(count('failure') > 0 ? 1 : 0)
  expect(await readdir(library.folder)).not.toContain('unmade')
  return { code, lines: all.filter((line) => line.includes(`${key}: `)) }
}

it('finds nothing that prevents service where nothing does, and makes no data folder', async () => {
  expect(await examine('recordings')).toEqual({
    code: 0,
    lines: [`ok      recordings: ${library.recordings} can be listed and read`],
  })
  expect((await examine('data')).lines).toEqual([
    expect.stringMatching(/^ok {6}data: \S+unmade can be written; \d+ MiB are free$/),
    expect.stringMatching(/data: a small write takes [\d.]+ ms/),
  ])
})

it.each([
  ['data', { AFTERCAST_DATA: '/proc/aftercast' }, 'cannot be written: '],
  ['recordings', { AFTERCAST_RECORDINGS: '/nowhere' }, 'there is no such folder: '],
  ['artifacts', { AFTERCAST_ARTIFACTS: '/proc/aftercast' }, 'nodes need to '],
  ['database', { AFTERCAST_DATABASE_URL: 'postgres://a:secret@127.0.0.1:1/x' }, 'refused: '],
  ['server', { AFTERCAST_HOST: '192.0.2.1' }, 'no such address (EADDRNOTAVAIL): '],
  ['server.metrics', { AFTERCAST_METRICS: '192.0.2.1:9090' }, 'no such address (EADDRNOTAVAIL): '],
  ['layout', { AFTERCAST_LAYOUT: 'nowhere' }, 'neither a template '],
])('names what prevents service, by its key: %s', async (key, settings, reason) => {
  const { code, lines } = await examine(key, settings)
  expect(code).toBe(1)
  expect(lines).toEqual([expect.stringMatching(/^failure /)])
  expect(lines[0]).toContain(reason)
  expect(lines[0]).not.toContain('secret')
})

it('reports a data folder inside the recordings, or of other recordings', async () => {
  const other = await createTempLibrary('doctor-other')
  await other.place('bob/2026-01-31/1.mp4', SMALL_FIXTURE)
  await runInProcess(['scan', ...other.args], { workingFolder: other.folder })
  expect(await examine('recordings', { AFTERCAST_DATA: other.data })).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(/^failure recordings: the catalog in \S+ is of \S+: name another /),
      expect.stringMatching(/^ok /),
    ],
  })
  const inside = path.join(library.recordings, 'data')
  expect(await examine('data', { AFTERCAST_DATA: inside })).toEqual({
    code: 1,
    lines: expect.arrayContaining([
      `failure data: ${inside} is inside the recordings ${library.recordings}: ` +
        'name a folder outside of them with --data',
    ]),
  })
})

it('asks for space where the disk is full', async () => {
  const disk = createFailingWrites(library.folder)
  disk.fail('ENOSPC', '.doctor-')
  const { code, stdout } = await runInNewProcess(['doctor', library.recordings], {
    workingFolder: library.folder,
    environment: { ...disk.environment, PORT: String(port) },
  })
  disk.close()
  expect(code).toBe(1)
  expect(stdout).toMatch(/^failure data: .* cannot be written: .*: free some space and inodes$/m)
})

it('warns of recordings without a file', async () => {
  const empty = path.join(library.folder, 'empty')
  await mkdir(path.join(empty, 'alice'), { recursive: true })
  expect(await examine('recordings', { AFTERCAST_RECORDINGS: empty })).toEqual({
    code: 0,
    lines: [`warning recordings: ${empty} has no files: name the right folder`],
  })
})

it('reports what does not respond, and goes on', async () => {
  const sockets: Socket[] = []
  const silent = createTcpServer((socket) => sockets.push(socket))
  const address = `127.0.0.1:${await listen(silent)}`
  const environment = {
    AFTERCAST_RECORDINGS: library.recordings,
    AFTERCAST_DATABASE_URL: `postgres://a@${address}/x`,
    PORT: String(port),
  }
  const sources = { flags: {}, environment, workingFolder: library.folder, cpuCount: 1 }
  const { io, written } = captureIo()
  expect(await examineWithin(200, loadConfig(sources), io)).toBe(1)
  expect(written.stdout.trimEnd().split('\n').slice(-2)).toEqual([
    'failure database: no response within 0.2 s: repair the mount or the service that it needs',
    expect.stringContaining('server: '),
  ])
  for (const socket of sockets) socket.destroy()
  await close(silent)
})

describe('the address of the server', () => {
  it('is taken by the server of this site, or by another program', async () => {
    const server = await startServer({ args: library.args })
    const url = new URL(server.url)
    const lines = async (): Promise<string[]> => (await examine('server', { PORT: url.port })).lines
    expect(await lines()).toEqual([`ok      server: ${url.host}: the server responds`])
    await server.stop()
    const other = createServer((_request, response) => response.end('hello'))
    await listen(other, Number(url.port))
    expect(await lines()).toEqual([
      `failure server: ${url.host}: another program uses this port: ` +
        'stop it, or choose another server.port',
    ])
    await close(other)
  })
})

describe('the public URL', () => {
  it.each([
    [{ 'x-forwarded-for': '192.0.2.7' }, 'true', /^ok .* leads here; the proxy names visitors$/],
    [
      { 'x-forwarded-for': '192.0.2.7' },
      'false',
      /^warning .*: set server.trustProxy to "127.0.0.1"$/,
    ],
    [{ 'x-forwarded-for': '192.0.2.7' }, '192.0.2.9', /^warning .* is not trusted: /],
    [{}, 'true', /^warning .* a visitor can name any address: /],
    [{}, 'false', /^ok .* without a proxy/],
  ])('knows a proxy that sends %j, trusting %s', async (headers, trust, expected) => {
    const proxy = await startProxyTo(port, headers)
    const settings = { AFTERCAST_PUBLIC_URL: proxy.url, AFTERCAST_TRUST_PROXY: trust }
    const { code, lines } = await examine('site', settings)
    expect([code, lines]).toEqual([0, [expect.stringMatching(expected)]])
    await proxy.close()
  })

  it('has a certificate that nobody accepts', async () => {
    const proxy = createTlsServer({ cert: TEST_CERTIFICATE, key: TEST_KEY })
    const url = `https://127.0.0.1:${await listen(proxy)}`
    const { lines } = await examine('site', { AFTERCAST_PUBLIC_URL: url })
    await close(proxy)
    expect(lines).toEqual([
      `warning site: ${url}: TLS fails (DEPTH_ZERO_SELF_SIGNED_CERT): ` +
        'let the proxy use a certificate that browsers accept',
    ])
  })

  it('leads elsewhere, or nowhere', async () => {
    const other = await startServer({ args: library.args })
    const elsewhere = await examine('site', { AFTERCAST_PUBLIC_URL: other.url })
    expect(elsewhere.lines).toEqual([expect.stringContaining('leads to another server: ')])
    await other.stop()
    const nowhere = await examine('site', { AFTERCAST_PUBLIC_URL: other.url })
    expect(nowhere.lines).toEqual([expect.stringContaining('does not lead here: connection re')])
  })
})

async function listen(server: Server, at = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function close(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve))
}

/** A proxy that replaces the address of visitors. */
async function startProxyTo(
  target: number,
  headers: IncomingHttpHeaders,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(({ url: at, method }, response) => {
    const asked = { host: '127.0.0.1', port: target, path: at, method, headers, agent: false }
    request(asked, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    }).end()
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  return { url, close: async () => close(server) }
}
