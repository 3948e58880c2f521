// The first-party collector through the program: workers count into one file, and `aftercast stats`
// prints the counts.
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

let library: TempLibrary

beforeAll(async () => {
  library = await createTempLibrary('collector')
  await library.place('alice/2026-01-31/1001.mp4', 'mp4-h264-aac-moov-first.mp4')
})

const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1001' }

async function withServer(
  settings: object,
  environment: NodeJS.ProcessEnv,
  check: (server: StartedServer) => Promise<void>,
): Promise<void> {
  const server = await startServer({
    args: library.args,
    settings,
    environment,
  })
  try {
    await check(server)
  } finally {
    await server.stop()
  }
}

const post = (url: string, events: unknown) =>
  fetch(`${url}/api/activity`, { method: 'POST', body: JSON.stringify(events) })

async function stats(...args: string[]): Promise<string> {
  const data = ['--data', library.data]
  return (await runInProcess(['stats', ...data, ...args], { workingFolder: library.folder })).stdout
}

it('counts the events of all workers, and stores nothing about their senders', async () => {
  await withServer({}, { AFTERCAST_WORKERS: '2' }, async ({ url }) => {
    const events = [
      { name: 'page_view', path: '/p/alice/2026-01-31/1001', title: '' },
      { name: 'page_view', path: '/s/mallory', title: '' },
      { name: 'begin_video', ...session },
      { name: 'begin_video', ...session, streamer: 'mallory' },
    ]
    const answers = await Promise.all(Array.from({ length: 40 }, () => post(url, events)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204))
    expect(await (await fetch(`${url}/api/config`)).json()).toMatchObject({
      analytics: { firstParty: true },
    })
  })
  const found: unknown = JSON.parse(await stats('--json', '--days', '2'))
  expect(found).toMatchObject({
    days: [{ views: 80, plays: 40 }],
    streamers: [{ streamer: 'alice', views: 40, plays: 40 }],
    sessions: [{ ...session, views: 40, plays: 40 }],
  })
  expect(await stats()).toContain('       40       40  alice - 2026-01-31 - 1001\n')
  const file = await readFile(path.join(library.data, 'analytics.sqlite'))
  for (const trace of ['127.0.0.1', 'undici', 'mallory']) expect(file.includes(trace)).toBe(false)
})

it('limits a visitor over all workers, as the trusted proxy names it', async () => {
  const environment = { AFTERCAST_WORKERS: '2', AFTERCAST_TRUST_PROXY: '1' }
  await withServer({}, environment, async ({ url }) => {
    const ask = async (visitor: string, headers: Record<string, string> = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      const options = {
        method: 'POST',
        // A connection of its own each time: they go to the workers by turns.
        agent: false,
        headers: { 'content-type': 'text/plain', 'x-forwarded-for': visitor, ...headers },
      }
      const asking = request(`${url}/api/activity`, options, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      asking.on('error', reject).end('[]')
      return promise
    }
    // Another visitor each time: a process that stops for seconds may be in the next window.
    let visitors = 0
    const countAllowed = async (): Promise<[number, number]> => {
      visitors += 1
      // Only the last address is the proxy's word.
      const from = (at: number): string => `192.0.2.${at}, 203.0.113.${100 + visitors}`
      const statuses = await Promise.all(Array.from({ length: 140 }, (_, at) => ask(from(at))))
      const count = (status: number): number => statuses.filter((one) => one === status).length
      return [count(204), count(429)]
    }
    await expect.poll(countAllowed).toEqual([120, 20])
    expect(await ask('203.0.113.7, 203.0.113.8')).toBe(204)
    expect(await ask('203.0.113.9', { origin: 'https://other.example' })).toBe(403)
    expect(await ask('203.0.113.9', { origin: url })).toBe(204)
  })
})

it('has no collector when it is disabled', async () => {
  await withServer({ analytics: { firstParty: false } }, {}, async ({ url }) => {
    const answer = await post(url, [])
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } })
    expect(await (await fetch(`${url}/api/config`)).json()).toMatchObject({
      analytics: { firstParty: false },
    })
  })
})

it('responds to a malformed body and a wrong method with the common error shape', async () => {
  await withServer({}, {}, async ({ url }) => {
    const malformed = await post(url, 'x')
    expect(malformed.status).toBe(400)
    expect(await malformed.json()).toMatchObject({ error: { code: 'invalid' } })
    expect((await fetch(`${url}/api/activity`)).status).toBe(404)
  })
})
