// The documented limits of downloads from nginx and Varnish, with the real programs.
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findProgram } from '../scripts/programs.mjs'
import { soon } from './support/patience.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { startNginx } from './support/servers/nginx.ts'
import { startVarnish } from './support/servers/varnish.ts'

const ADDRESS = '2001:db8:1:2::1'
const SAME_NETWORK = '2001:db8:1:2:3::9'
const OTHERS = ['2001:db8:1:3::1', '192.0.2.1']

/** Answers everything, and ends no response with media before `finish`. */
let server: Server
let origin: string
let unfinished: ServerResponse[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    response.write('begins')
    if (request.url?.includes('/held/') === true) unfinished.push(response)
    else response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function head(url: string, client: string): Promise<IncomingMessage> {
  const sent = get(url, { agent: false, headers: { 'x-forwarded-for': client } })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response.resume()
}

async function statusOf(url: string, client: string): Promise<number | undefined> {
  return (await head(url, client)).statusCode
}

describe.skipIf(findProgram('nginx') === undefined)('nginx', () => {
  it('sends a client so many files of media at once, and others and pages always', async () => {
    const nginx = await startNginx(origin, { withEgressLimits: true })
    const media = (at: number): string => `${nginx.url}/api/video/a/b/c/held/${at}.ts`
    try {
      for (let at = 0; at < 16; at += 1) expect(await statusOf(media(at), ADDRESS)).toBe(200)
      const refused = await head(media(16), SAME_NETWORK)
      expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
      for (const [at, client] of OTHERS.entries())
        expect(await statusOf(media(17 + at), client)).toBe(200)
      for (const path of ['/', '/api/streamers', '/api/video/a/b/c/playlist.m3u8'])
        expect(await statusOf(nginx.url + path, ADDRESS), path).toBe(200)
      unfinished.forEach((response) => response.end())
      unfinished = []
      await expect.poll(async () => statusOf(media(20), SAME_NETWORK), soon).toBe(200)
    } finally {
      unfinished.forEach((response) => response.end())
      await nginx.stop()
    }
  })
})

describe.skipIf(findProgram('Varnish') === undefined)('Varnish', () => {
  it('sends a client so many files of media per second, and others and pages always', async () => {
    const varnish = await startVarnish(await findFreePort(), [origin], { withEgressLimits: true })
    const media = `${varnish.url}/api/video/a/b/c/d/1.ts`
    /** Each from another address of one network. */
    const requestMany = async (): Promise<IncomingMessage | undefined> => {
      const sent = Array.from({ length: 250 }, async (_, at) =>
        head(media, `2001:db8:1:2:${at}::1`),
      )
      return (await Promise.all(sent)).find(({ statusCode }) => statusCode === 503)
    }
    try {
      let refused: IncomingMessage | undefined
      await expect.poll(async () => (refused = await requestMany()) !== undefined, soon).toBe(true)
      expect(refused?.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' })
      for (const client of OTHERS) expect(await statusOf(media, client)).toBe(200)
      for (const path of ['/', '/api/streamers', '/api/video/a/b/c/playlist.m3u8'])
        expect(await statusOf(varnish.url + path, ADDRESS), path).toBe(200)
    } finally {
      await varnish.stop()
    }
  })
})
