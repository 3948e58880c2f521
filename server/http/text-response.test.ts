import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import cors from '@fastify/cors'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exchange, rawRequest } from '../../test/support/raw-request.ts'
import { addVary, chooseEncoding, sendText, TextResponse } from './text-response.ts'

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
    ['gzip;q=0, *', 'identity'],
    // What Chromium's own HLS player sends; it cannot read brotli.
    ['gzip, identity;q=1, *;q=0', 'gzip'],
    ['brotli-like', 'identity'],
  ])('answers %j with %s', (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding)
  })
})

const options = { contentType: 'text/plain', cacheControl: 'no-cache', headers: {} }

describe('TextAnswer', () => {
  it('gives the same text in every encoding', async () => {
    const text = 'one two three '.repeat(200)
    const answer = new TextResponse(text, options)
    expect((await answer.encoded('identity')).bytes.toString()).toBe(text)
    expect(gunzipSync((await answer.encoded('gzip')).bytes).toString()).toBe(text)
    expect(brotliDecompressSync((await answer.encoded('br')).bytes).toString()).toBe(text)
  })

  it('has an ETag that changes with the text alone', () => {
    expect(new TextResponse('a', options).etag).toBe(new TextResponse('a', options).etag)
    expect(new TextResponse('a', options).etag).not.toBe(new TextResponse('b', options).etag)
  })
})

describe('sendText', () => {
  const text = 'one two three '.repeat(200)
  const answer = new TextResponse(text, {
    contentType: 'text/plain; charset=utf-8',
    cacheControl: 'no-cache',
    headers: { 'x-content-type-options': 'nosniff' },
  })
  /** Of every answer. */
  const always = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
    etag: answer.etag,
    vary: 'Origin, Accept-Encoding',
  }
  const strong = answer.etag.slice('W/'.length)
  let app: FastifyInstance
  let url: string
  /** Status of every answer that the server's hook was told of. */
  let told: number[]

  beforeEach(async () => {
    told = []
    app = Fastify()
    app.addHook('onResponse', async (_request, reply) => void told.push(reply.raw.statusCode))
    await app.register(cors, { origin: ['https://reader.example'] })
    app.get('/', (request, reply) => sendText(request, reply, answer))
    app.get('/missing', (request, reply) => sendText(request, reply.code(404), answer))
    url = await app.listen({ host: '127.0.0.1', port: 0 })
  })

  afterEach(() => app.close())

  it.each(['identity', 'gzip', 'br'])('answers HEAD as GET in %s', async (encoding) => {
    const headers = { 'accept-encoding': encoding }
    // Compressed when first asked for, ready from then on.
    const first = await rawRequest(url, '/', { headers })
    const get = await rawRequest(url, '/', { headers })
    const head = await rawRequest(url, '/', { method: 'HEAD', headers })
    expect(first.body).toEqual(get.body)
    expect(get.headers).toMatchObject(always)
    expect(get.headers['content-encoding'] ?? 'identity').toBe(encoding)
    expect(Number(get.headers['content-length'])).toBe(get.body.length)
    expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' })
    expect(head.status).toBe(200)
    expect(head.body.length).toBe(0)
  })

  it.each([
    [answer.etag],
    // RFC 9110 8.8.3.2: the weak comparison looks at the opaque tags alone.
    [strong],
    [`"other", ${answer.etag}`],
    [`W/"other",${strong} , "third"`],
    ['*'],
  ])('answers 304 to If-None-Match: %s', async (condition) => {
    const response = await rawRequest(url, '/', { headers: { 'if-none-match': condition } })
    expect(response.status).toBe(304)
    expect(response.body.length).toBe(0)
    expect(response.headers).toMatchObject(always)
    expect(response.headers['content-length']).toBeUndefined()
    expect(response.headers['content-encoding']).toBeUndefined()
  })

  it.each([
    ['"other"'],
    ['W/"other", "third"'],
    [answer.etag.slice(0, -2)],
    [answer.etag.slice(3)],
  ])('answers the text to If-None-Match: %s', async (condition) => {
    const response = await rawRequest(url, '/', { headers: { 'if-none-match': condition } })
    expect(response.status).toBe(200)
    expect(response.body.toString()).toBe(text)
  })

  it('answers the text to who reloads', async () => {
    const headers = { 'if-none-match': answer.etag, 'cache-control': 'no-cache' }
    expect((await rawRequest(url, '/', { headers })).status).toBe(200)
  })

  it('takes no condition where the answer is no success', async () => {
    const headers = { 'if-none-match': answer.etag }
    const response = await rawRequest(url, '/missing', { headers })
    expect(response.status).toBe(404)
    expect(response.body.toString()).toBe(text)
  })

  it.each([{}, { 'if-none-match': answer.etag }])(
    'says what other origins may do, and varies by origin too, asked with %o',
    async (condition) => {
      const headers = { origin: 'https://reader.example', ...condition }
      const response = await rawRequest(url, '/', { headers })
      expect(response.headers).toMatchObject({
        ...always,
        'access-control-allow-origin': 'https://reader.example',
      })
    },
  )

  it('keeps the connection behind every kind of answer, and tells each to the hooks', async () => {
    const lines = (method: string, ...headers: string[]): string =>
      [`${method} / HTTP/1.1`, 'host: x', ...headers, '', ''].join('\r\n')
    const requests =
      lines('GET', `if-none-match: ${answer.etag}`) +
      lines('HEAD') +
      lines('GET') +
      lines('GET', `if-none-match: ${answer.etag}`, 'connection: close')
    const answers = (await exchange(url, Buffer.from(requests))).toString()
    expect(answers.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(9)))).toEqual([
      304, 200, 200, 304,
    ])
    expect(answers.split(text).length).toBe(2)
    expect(told).toEqual([304, 200, 200, 304])
  })

  it('writes the headers of the text alone where no hook has set any', async () => {
    const alone = Fastify()
    alone.get('/', (request, reply) => sendText(request, reply, answer))
    const { headers } = await rawRequest(await alone.listen({ port: 0, host: '127.0.0.1' }), '/')
    const { date: _, connection, ...own } = headers
    expect(own).toEqual({
      ...always,
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
