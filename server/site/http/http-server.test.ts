// Chains of proxies over a real socket.
import { request } from 'node:http'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { parseTrustedProxies } from '../../base/config/trusted-proxies.ts'
import { trustProxyOf } from './http-server.ts'

/** The visitor and the URL that a server sees with this value of the configuration. */
async function seenWith(value: unknown, headers: Record<string, string>): Promise<string> {
  const app = Fastify({ trustProxy: trustProxyOf(parseTrustedProxies(value) ?? false) })
  app.get('/', async ({ ip, protocol, host }) => `${ip} ${protocol}://${host}`)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  request(url, { headers: { host: 'origin', ...headers }, agent: false }, (response) => {
    let body = ''
    response.setEncoding('utf8').on('data', (text: string) => (body += text))
    response.on('end', () => resolve(body))
  })
    .on('error', reject)
    .end()
  const seen = await promise
  await app.close()
  return seen
}

const chain = {
  // Of the visitor's own making, the visitor, a CDN; the connection is from 127.0.0.1.
  'x-forwarded-for': '198.51.100.66, 203.0.113.7, 10.1.2.3',
  'x-forwarded-host': 'site.example',
  'x-forwarded-proto': 'https',
}

test.each([
  [false, '127.0.0.1 http://origin'],
  [0, '127.0.0.1 http://origin'],
  ['0', '127.0.0.1 http://origin'],
  [1, '10.1.2.3 https://site.example'],
  ['2', '203.0.113.7 https://site.example'],
  [3, '198.51.100.66 https://site.example'],
  [9, '198.51.100.66 https://site.example'],
  ['true', '198.51.100.66 https://site.example'],
  ['127.0.0.1', '10.1.2.3 https://site.example'],
  ['127.0.0.0/8, 10.0.0.0/8', '203.0.113.7 https://site.example'],
  ['::1,127.0.0.1,10.1.2.3/32', '203.0.113.7 https://site.example'],
  ['::ffff:127.0.0.1', '10.1.2.3 https://site.example'],
  ['10.0.0.0/8', '127.0.0.1 http://origin'],
])('with %j the visitor is %s', async (value, seen) => {
  expect(await seenWith(value, chain)).toBe(seen)
})

test.each([true, 1, '127.0.0.1'])(
  'with %j a connection without a proxy is itself',
  async (value) => {
    expect(await seenWith(value, {})).toBe('127.0.0.1 http://origin')
  },
)
