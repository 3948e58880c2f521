// The complete server while its stderr fails, and when an exception is thrown that nothing catches.
import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findFreePort } from './support/servers/free-port.ts'
import { soon } from './support/patience.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer, StartOptions } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

let library: TempLibrary

beforeAll(async () => {
  library = await createTempLibrary('unwritable')
  await library.place('alice/2026-01-31/1001.mp4', SMALL_FIXTURE)
})
const started: StartedServer[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()))
})

interface LoggingServer extends StartedServer {
  /** Log lines that were dropped, by the metrics listener. */
  unwritable: () => Promise<number>
}

/** One process that logs each request. */
async function startLogging(options: Omit<StartOptions, 'args'> = {}): Promise<LoggingServer> {
  const port = await findFreePort()
  const server = await startServer({
    args: library.args,
    ...options,
    environment: {
      AFTERCAST_LOG_REQUESTS: 'true',
      AFTERCAST_METRICS: `127.0.0.1:${port}`,
      ...options.environment,
    },
  })
  started.push(server)
  const unwritable = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const pattern = /^aftercast_log_lines_dropped_total\{reason="unwritable"\} (?<n>\d+)$/m
    return Number(pattern.exec(text)?.groups?.n)
  }
  return { ...server, unwritable }
}

/** Each request logs about 2 kB, together more than a pipe and the log's buffer store. */
async function fillLog({ url }: StartedServer): Promise<number[]> {
  const statuses = new Set<number>()
  const request = async (): Promise<void> => {
    const response = await fetch(`${url}/api/streamers?${'x'.repeat(2000)}`)
    await response.arrayBuffer()
    statuses.add(response.status)
  }
  for (let i = 0; i < 35; i += 1) await Promise.all(Array.from({ length: 20 }, request))
  return [...statuses]
}

function readAvailable(reader: number): string {
  const buffer = Buffer.alloc(1 << 20)
  try {
    return buffer.toString('utf8', 0, readSync(reader, buffer))
  } catch {
    return ''
  }
}

describe('a server whose stderr fails', () => {
  it('serves while the disk of its log is full', async () => {
    const stderr = openSync('/dev/full', 'w')
    const server = await startLogging({ stderr })
    closeSync(stderr)
    expect(await fillLog(server)).toEqual([200])
    expect(await server.unwritable()).toBeGreaterThan(0)
    expect(await server.stop()).toBe(0)
  })

  it('serves while nobody reads its log, and after the reader has gone', async () => {
    const fifo = path.join(library.folder, 'log')
    spawnSync('mkfifo', [fifo])
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK)
    const stderr = openSync(fifo, 'w')
    const server = await startLogging({ stderr })
    closeSync(stderr)
    expect(await fillLog(server)).toEqual([200])
    const lines = await server.unwritable()
    expect(lines).toBeGreaterThan(0)

    let text = ''
    const note = 'log lines could not be written"}\n'
    await expect.poll(() => (text += readAvailable(reader)), soon).toContain(note)
    const objects: unknown[] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(objects.at(-1)).toMatchObject({ level: 40, lines })

    closeSync(reader)
    expect(await fillLog(server)).toEqual([200])
    expect(await server.unwritable()).toBeGreaterThan(lines)
    expect(await server.stop()).toBe(0)
  })
})

/** A module that fails twice on SIGUSR2. */
function failOnSignal(failure: string): string {
  const code = `process.on('SIGUSR2', () => {
    for (const ms of [0, 50]) setTimeout(() => { ${failure} }, ms)
  })`
  return `--import=data:text/javascript,${encodeURIComponent(code)}`
}

describe('a server with a defect', () => {
  it.each([
    ['an exception', "throw new Error('planted defect')"],
    ['a rejection', "void Promise.reject(new Error('planted defect'))"],
  ])(
    'logs %s that nothing catches once, answers its requests, and exits with 1',
    async (_, failure) => {
      const server = await startLogging({ nodeFlags: [failOnSignal(failure)] })
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
      const event = JSON.stringify({ type: 'view', path: '/' })
      const head = `POST /api/activity HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\n`
      const request = `${head}Content-Length: ${event.length}\r\n\r\n`
      socket.write(request)
      await once(socket, 'connect')
      // Answered after the request above has arrived.
      await (await fetch(`${server.url}/api/streamers`)).text()
      process.kill(server.pid, 'SIGUSR2')
      await expect.poll(() => server.output(), soon).toContain('planted defect')
      socket.write(event)
      const [answer] = await once(socket, 'data')
      expect(String(answer)).toMatch(/^HTTP\/1\.1 (?!5)/)
      socket.destroy()
      expect(await server.ended()).toBe(1)
      const lines = server
        .output()
        .split('\n')
        .filter((line) => line.includes('planted defect'))
      expect(lines).toEqual([
        expect.stringMatching(/^aftercast: unexpected error: Error: planted defect at .*data:/),
      ])
    },
  )
})
