import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import cors from '@fastify/cors'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exchange, rawRequest } from '../../../../test/support/servers/raw-request.ts'
import { addVary, chooseEncoding, HashedText, sendText, TextResponse } from './text-response.ts'

describe('chooseEncoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip , deflate', 'gzip'],
    ['hasOwnProperty', 'identity'],
    ['br', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*', 'gzip'],
    [`${','.repeat(7000)}gzip`, 'identity'],
    ['gzip;q=0, *', 'identity'],
    // Chromium's own HLS player cannot decode brotli.
    ['gzip, identity;q=1, *;q=0', 'gzip'],
    ['brotli-like', 'identity'],
  ])('chooses for %j: %s', (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding)
  })
})

const options = { contentType: 'text/plain', cacheControl: 'no-cache', headers: {} }

describe('TextResponse', () => {
  it('is the same for strings that were added in slices', async () => {
    const text = new HashedText('first ')
    text.add('sécond ')
    text.add('third')
    const response = new TextResponse(text, options)
    expect(response.etag).toBe(new TextResponse('first sécond third', options).etag)
    expect((await response.encoded('identity')).bytes.toString()).toBe('first sécond third')
  })

  it('has the same text in every encoding', async () => {
    const text = 'one two three '.repeat(200)
    const response = new TextResponse(text, options)
    expect((await response.encoded('identity')).bytes.toString()).toBe(text)
    expect(gunzipSync((await response.encoded('gzip')).bytes).toString()).toBe(text)
    expect(brotliDecompressSync((await response.encoded('br')).bytes).toString()).toBe(text)
  })

  it('has an ETag that depends only on the text', () => {
    expect(new TextResponse('a', options).etag).toBe(new TextResponse('a', options).etag)
    expect(new TextResponse('a', options).etag).not.toBe(new TextResponse('b', options).etag)
  })
})

describe('sendText', () => {
  const text = 'one two three '.repeat(200)
  const served = new TextResponse(text, {
    contentType: 'text/plain; charset=utf-8',
    cacheControl: 'no-cache',
    headers: { 'x-content-type-options': 'nosniff' },
  })
  /** Headers of every response. */
  const common = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
    etag: served.etag,
    vary: 'Origin, Accept-Encoding',
  }
  const strong = served.etag.slice('W/'.length)
  let app: FastifyInstance
  let url: string
  /** Status of each response in the hook. */
  let hooked: number[]

  beforeEach(async () => {
    hooked = []
    app = Fastify()
    app.addHook('onResponse', async (_request, reply) => void hooked.push(reply.raw.statusCode))
    await app.register(cors, { origin: ['https://reader.example'] })
    app.get('/', (request, reply) => sendText(request, reply, served))
    app.get('/missing', (request, reply) => sendText(request, reply.code(404), served))
    url = await app.listen({ host: '127.0.0.1', port: 0 })
  })

  afterEach(() => app.close())

  it.each(['identity', 'gzip', 'br'])('responds to HEAD as to GET in %s', async (encoding) => {
    const headers = { 'accept-encoding': encoding }
    // The first response compresses, the second one uses the result.
    const first = await rawRequest(url, '/', { headers })
    const get = await rawRequest(url, '/', { headers })
    const head = await rawRequest(url, '/', { method: 'HEAD', headers })
    expect(first.body).toEqual(get.body)
    expect(get.headers).toMatchObject(common)
    expect(get.headers['content-encoding'] ?? 'identity').toBe(encoding)
    expect(Number(get.headers['content-length'])).toBe(get.body.length)
    expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' })
    expect(head.status).toBe(200)
    expect(head.body.length).toBe(0)
  })

  it.each([
    [served.etag],
    // RFC 9110 8.8.3.2: the weak comparison ignores W/.
    [strong],
    [`"other", ${served.etag}`],
    [`W/"other",${strong} , "third"`],
    ['*'],
  ])('responds with 304 to If-None-Match: %s', async (condition) => {
    const response = await rawRequest(url, '/', { headers: { 'if-none-match': condition } })
    expect(response.status).toBe(304)
    expect(response.body.length).toBe(0)
    expect(response.headers).toMatchObject(common)
    expect(response.headers['content-length']).toBeUndefined()
    expect(response.headers['content-encoding']).toBeUndefined()
  })

  it.each([
    ['"other"'],
    ['W/"other", "third"'],
    [served.etag.slice(0, -2)],
    [served.etag.slice(3)],
  ])('responds with the text to If-None-Match: %s', async (condition) => {
    const response = await rawRequest(url, '/', { headers: { 'if-none-match': condition } })
    expect(response.status).toBe(200)
    expect(response.body.toString()).toBe(text)
  })

  it('responds with the text to a reload', async () => {
    const headers = { 'if-none-match': served.etag, 'cache-control': 'no-cache' }
    expect((await rawRequest(url, '/', { headers })).status).toBe(200)
  })

  it('ignores preconditions if the status is not 200', async () => {
    const headers = { 'if-none-match': served.etag }
    const response = await rawRequest(url, '/missing', { headers })
    expect(response.status).toBe(404)
    expect(response.body.toString()).toBe(text)
  })

  it.each([{}, { 'if-none-match': served.etag }])(
    'has CORS headers and varies by origin, for a request with %o',
    async (condition) => {
      const headers = { origin: 'https://reader.example', ...condition }
      const response = await rawRequest(url, '/', { headers })
      expect(response.headers).toMatchObject({
        ...common,
        'access-control-allow-origin': 'https://reader.example',
      })
    },
  )

  it('keeps the connection alive after each kind of response, and calls the hooks', async () => {
    const lines = (method: string, ...headers: string[]): string =>
      [`${method} / HTTP/1.1`, 'host: x', ...headers, '', ''].join('\r\n')
    const requests =
      lines('GET', `if-none-match: ${served.etag}`) +
      lines('HEAD') +
      lines('GET') +
      lines('GET', `if-none-match: ${served.etag}`, 'connection: close')
    const responses = (await exchange(url, Buffer.from(requests))).toString()
    expect(responses.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(9)))).toEqual([
      304, 200, 200, 304,
    ])
    expect(responses.split(text).length).toBe(2)
    expect(hooked).toEqual([304, 200, 200, 304])
  })

  it('has only the headers of the text if no hook sets any', async () => {
    const alone = Fastify()
    alone.get('/', (request, reply) => sendText(request, reply, served))
    const { headers } = await rawRequest(await alone.listen({ port: 0, host: '127.0.0.1' }), '/')
    const { date: _, connection, ...own } = headers
    expect(own).toEqual({
      ...common,
      vary: 'Accept-Encoding',
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(text.length),
    })
    expect(connection).toBe('close')
    await alone.close()
  })
})

describe('addVary', () => {
  it('adds a name once', () => {
    expect(addVary(undefined, 'Accept')).toBe('Accept')
    expect(addVary('Origin', 'Accept')).toBe('Origin, Accept')
    expect(addVary('Origin, accept', 'Accept')).toBe('Origin, accept')
  })
})
