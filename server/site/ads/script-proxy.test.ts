import { createServer, request } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { isAppError } from '../../base/errors.ts'
import { MAX_SCRIPT_BYTES } from './fetch-script.ts'
import { resolveHost } from './public-address.ts'
import { ScriptProxy } from './script-proxy.ts'
import type { AdHost, ScriptProxyOptions } from './script-proxy.ts'
import { addScriptRoute } from './script-routes.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const open: (Server | FastifyInstance)[] = []
afterEach(async () => {
  for (const server of open.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections()
    await server.close()
  }
})

interface Upstream {
  origin: string
  port: number
  requests: IncomingMessage[]
}

/** A real upstream that records its requests. */
async function startUpstream(answer: RequestListener): Promise<Upstream> {
  const requests: IncomingMessage[] = []
  const server = createServer((incoming, response) => {
    requests.push(incoming)
    answer(incoming, response)
  })
  open.push(server)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, port, requests }
}

const bomb = gzipSync(Buffer.alloc(32 * MAX_SCRIPT_BYTES))

const script: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'application/javascript')
  response.end('window.AdProvider = []')
}

interface Site {
  url: string
  port: number
  failures: string[]
  clock: { ms: number }
}

/** The route over a proxy, listening. */
async function startSite(
  hosts: Record<string, AdHost>,
  options: Partial<ScriptProxyOptions> = {},
): Promise<Site> {
  const failures: string[] = []
  const clock = { ms: 0 }
  const proxy = new ScriptProxy({
    hosts: new Map(Object.entries(hosts)),
    resolve: resolveHost,
    now: () => clock.ms,
    onFailure: (_host, error) => failures.push(error instanceof Error ? error.message : ''),
    headersTimeoutMs: patienceMs,
    totalTimeoutMs: patienceMs,
    ...options,
  })
  const app = Fastify()
  app.setErrorHandler(async (error, _request, reply) =>
    reply.code(isAppError(error, 'not_found') ? 404 : 400).send({}),
  )
  addScriptRoute(app, async (name) => proxy.script(name))
  await app.listen({ port: 0, host: '127.0.0.1' })
  open.push(app)
  const { port } = app.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, failures, clock }
}

/** A site whose only host `a` is the upstream, which may be private. */
async function startSiteOver(
  upstream: Upstream,
  options?: Partial<ScriptProxyOptions>,
): Promise<Site> {
  return startSite({ a: { origin: upstream.origin, allowPrivate: true } }, options)
}

async function fetchScriptOf(site: Site, init?: RequestInit): Promise<Response> {
  return fetch(`${site.url}/api/proxy-ad/a/ad-provider.js`, init)
}

describe('the ad script route', () => {
  it('serves the script of the upstream with its own headers', async () => {
    const upstream = await startUpstream((incoming, response) => {
      response.setHeader('set-cookie', 'tracker=1')
      response.setHeader('service-worker-allowed', '/')
      response.setHeader('access-control-allow-origin', '*')
      script(incoming, response)
    })
    const response = await fetchScriptOf(await startSiteOver(upstream))
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('window.AdProvider = []')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300, stale-if-error=86400',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
    })
    for (const name of ['set-cookie', 'service-worker-allowed', 'access-control-allow-origin']) {
      expect(response.headers.has(name)).toBe(false)
    }
  })

  it('sends nothing about the visitor to the upstream', async () => {
    const upstream = await startUpstream(script)
    const site = await startSiteOver(upstream)
    await fetch(`${site.url}/api/proxy-ad/a/ad-provider.js?secret=1`, {
      headers: {
        cookie: 'id=7',
        authorization: 'Basic eA==',
        referer: 'http://site.example/p/alice',
        'x-forwarded-for': '203.0.113.9',
        'user-agent': 'Visitor',
      },
    })
    const [asked] = upstream.requests
    expect(asked?.url).toBe('/ad-provider.js')
    expect(asked?.headers).toEqual({
      accept: 'text/javascript, application/javascript;q=0.9',
      'accept-encoding': 'br, gzip',
      'user-agent': 'Mozilla/5.0 (compatible; Aftercast)',
      host: `127.0.0.1:${upstream.port}`,
      connection: 'close',
    })
  })

  it('responds with 304 where the visitor has it, and HEAD without a body', async () => {
    const site = await startSiteOver(await startUpstream(script))
    const etag = (await fetchScriptOf(site)).headers.get('etag') ?? ''
    const path = '/api/proxy-ad/a/ad-provider.js'
    expect(await getRaw(site.port, path, { 'if-none-match': etag })).toBe(304)
    expect(await getRaw(site.port, path, { 'if-none-match': '"another"' })).toBe(200)
    const head = await fetchScriptOf(site, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('refuses to become a service worker, without an outbound call', async () => {
    const upstream = await startUpstream(script)
    const site = await startSiteOver(upstream)
    const response = await fetchScriptOf(site, { headers: { 'service-worker': 'script' } })
    expect(response.status).toBe(400)
    expect(upstream.requests).toHaveLength(0)
  })

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('decodes %s', async (encoding, encode) => {
    const upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', 'text/javascript')
      response.setHeader('content-encoding', encoding)
      response.end(encode('let ads'))
    })
    expect(await (await fetchScriptOf(await startSiteOver(upstream))).text()).toBe('let ads')
  })
})

describe('the ad script route with hostile hosts', () => {
  it('serves only configured hosts, and contacts no others', async () => {
    const canary = await startUpstream(script)
    const site = await startSite({ a: { origin: canary.origin, allowPrivate: true } })
    const { port } = canary
    const hostile = [
      'A',
      'a.',
      'a%00',
      'b%00.a',
      'a@b',
      'a%40127.0.0.1',
      `127.0.0.1:${port}`,
      `127.0.0.1%3A${port}`,
      `a@127.0.0.1:${port}`,
      `http:%2f%2f127.0.0.1:${port}`,
      '2130706433',
      `0x7f.1:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `%5B::1%5D:${port}`,
      `localhost:${port}`,
      'a%2f..',
      '..',
      '%2e%2e',
      '%2e%2e%2fa',
      'a%2f',
      'a%5c',
      'a%3f',
      'a%23',
      'a%0d%0aHost:x',
      'a%E3%80%82example',
      '%EF%BD%81',
      '__proto__',
      'constructor',
      'toString',
      'a'.repeat(60),
      '%',
      '%zz',
    ]
    const answers = await Promise.all(
      hostile.map((name) => getRaw(site.port, `/api/proxy-ad/${name}/ad-provider.js`)),
    )
    expect(answers.filter((status) => status !== 404 && status !== 400)).toEqual([])
    const otherFiles = ['ad-provider.js/', 'other.js', 'ad-provider.js%2f..%2fx', '../a/x.js']
    for (const file of otherFiles) {
      expect(await getRaw(site.port, `/api/proxy-ad/a/${file}`)).toBe(404)
    }
    expect(canary.requests).toHaveLength(0)
  })

  it('does not contact a private address, in any notation', async () => {
    const canary = await startUpstream(script)
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '0', '[::ffff:127.0.0.1]']) {
      const origin = `http://${host}:${canary.port}`
      const site = await startSite({ a: { origin, allowPrivate: false } })
      expect((await fetchScriptOf(site)).status).toBe(502)
      expect(site.failures[0]).toMatch(/is not a public address/)
    }
    expect(canary.requests).toHaveLength(0)
  })

  it('does not contact a name that resolves to a private address', async () => {
    const canary = await startUpstream(script)
    const origin = `http://localhost:${canary.port}`
    const site = await startSite({ a: { origin, allowPrivate: false } })
    expect((await fetchScriptOf(site)).status).toBe(502)
    expect(site.failures).toEqual(['localhost has no public address'])
    expect(canary.requests).toHaveLength(0)
  })

  it('checks the addresses of the very lookup that the connection uses', async () => {
    const canary = await startUpstream(script)
    const answers = ['192.0.2.1', '127.0.0.1']
    const site = await startSite(
      { a: { origin: `http://ads.example:${canary.port}`, allowPrivate: false } },
      {
        resolve: (_hostname, callback) =>
          callback(null, [{ address: answers.shift() ?? '127.0.0.1', family: 4 }]),
      },
    )
    expect((await fetchScriptOf(site)).status).toBe(502)
    expect(answers).toEqual(['127.0.0.1'])
    expect(canary.requests).toHaveLength(0)
  })
})

describe('the ad script route with a bad upstream', () => {
  const bad: [string, RequestListener, RegExp, Partial<ScriptProxyOptions>?][] = [
    [
      'redirects',
      (_request, response) => {
        response.writeHead(302, { location: 'http://169.254.169.254/ad-provider.js' }).end()
      },
      /responded with 302/,
    ],
    ['is silent', () => undefined, /headers timed out/, { headersTimeoutMs: 300 }],
    [
      'never ends its body',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/javascript' })
        const timer = setInterval(() => response.write(' '), 20)
        response.on('close', () => clearInterval(timer))
      },
      /timeout/,
      { totalTimeoutMs: 600 },
    ],
    [
      'sends too much',
      (_request, response) => {
        response.setHeader('content-type', 'text/javascript')
        response.end(Buffer.alloc(MAX_SCRIPT_BYTES + 1, ' '))
      },
      /too large/,
    ],
    [
      'sends a bomb',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/javascript', 'content-encoding': 'gzip' })
        response.end(bomb)
      },
      /too large/,
    ],
    [
      'chains content codings',
      (_request, response) => {
        response.setHeader('content-type', 'text/javascript')
        response.setHeader('content-encoding', Array.from({ length: 1000 }, () => 'gzip').join(','))
        response.end(gzipSync('let ads'))
      },
      /content coding/,
    ],
    [
      'breaks its coding',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/javascript', 'content-encoding': 'gzip' })
        response.end('no gzip')
      },
      /incorrect header check/,
    ],
    [
      'cuts its body off',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/javascript', 'content-length': '100' })
        response.write('let ads')
        setTimeout(() => response.destroy(), 30)
      },
      /aborted|cut off/,
    ],
    [
      'answers another type',
      (_request, response) => {
        response.setHeader('content-type', 'text/html')
        response.end('let ads')
      },
      /is not JavaScript/,
    ],
    [
      'answers a page as a script',
      (_request, response) => {
        response.setHeader('content-type', 'text/javascript')
        response.end('\uFEFF\n<!doctype html>')
      },
      /markup/,
    ],
    [
      'answers 500',
      (_request, response) => void response.writeHead(500).end(),
      /responded with 500/,
    ],
    ['hangs up', (incoming) => void incoming.socket.destroy(), /socket hang up/],
  ]

  it.each(bad)('responds with 502 if the upstream %s', async (...[, answer, reason, limits]) => {
    const upstream = await startUpstream(answer)
    const site = await startSiteOver(upstream, limits)
    const response = await fetchScriptOf(site)
    expect(response.status).toBe(502)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({
      error: { code: 'failed', message: 'the ad script is not available' },
    })
    expect(site.failures).toHaveLength(1)
    expect(site.failures[0]).toMatch(reason)
    // A time limit may end before the request arrives.
    expect(upstream.requests.length).toBeLessThanOrEqual(1)
  })
})

describe('the cached ad script', () => {
  it('is fetched once for fifty visitors at once, and again after five minutes', async () => {
    const upstream = await startUpstream((incoming, response) => {
      setTimeout(() => script(incoming, response), 50)
    })
    const site = await startSiteOver(upstream)
    const answers = await Promise.all(Array.from({ length: 50 }, () => fetchScriptOf(site)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    site.clock.ms = 5 * MINUTE_MS - 1
    await fetchScriptOf(site)
    expect(upstream.requests).toHaveLength(1)
    site.clock.ms = 5 * MINUTE_MS
    await fetchScriptOf(site)
    expect(upstream.requests).toHaveLength(2)
  })

  it('is served for a day while the upstream fails, with attempts every 30 s', async () => {
    const state = { isDown: false }
    const upstream = await startUpstream((incoming, response) => {
      if (state.isDown) response.writeHead(500).end()
      else script(incoming, response)
    })
    const site = await startSiteOver(upstream)
    await fetchScriptOf(site)
    state.isDown = true
    site.clock.ms = 5 * MINUTE_MS
    expect((await fetchScriptOf(site)).status).toBe(200)
    expect((await fetchScriptOf(site)).status).toBe(200)
    expect(upstream.requests).toHaveLength(2)
    site.clock.ms += 30_000
    expect((await fetchScriptOf(site)).status).toBe(200)
    expect(upstream.requests).toHaveLength(3)
    site.clock.ms = 24 * HOUR_MS + 5 * MINUTE_MS
    expect((await fetchScriptOf(site)).status).toBe(502)
  })

  it('leaves a failed upstream alone for 30 s', async () => {
    const upstream = await startUpstream((_request, response) => void response.writeHead(500).end())
    const site = await startSiteOver(upstream)
    for (let visitor = 0; visitor < 5; visitor += 1) {
      expect((await fetchScriptOf(site)).status).toBe(502)
    }
    expect(upstream.requests).toHaveLength(1)
    expect(site.failures).toHaveLength(1)
    site.clock.ms = 30_000
    await fetchScriptOf(site)
    expect(upstream.requests).toHaveLength(2)
  })
})

/** Status of a path that is sent as it is written: no client tidies it. */
async function getRaw(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}
