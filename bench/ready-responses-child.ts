// The competitor of `npm run bench -- catalog`: Fastify routes that send prepared bytes.
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import Fastify from 'fastify'

/** The responses to send: those of another server to these paths. */
export interface ReadyResponsesOrder {
  origin: string
  paths: readonly string[]
  encodings: readonly string[]
}

process.once('message', (order: ReadyResponsesOrder) => void run(order))

async function run({ origin, paths, encodings }: ReadyResponsesOrder): Promise<void> {
  const ready = new Map<string, Awaited<ReturnType<typeof readResponse>>>()
  for (const path of paths) {
    for (const encoding of encodings)
      ready.set(`${encoding} ${path}`, await readResponse(origin + path, encoding))
  }
  const app = Fastify()
  app.get('/*', (request, reply) => {
    const known = ready.get(`${request.headers['accept-encoding']} ${request.url}`)
    if (known === undefined) return reply.code(404).send()
    const { etag, 'content-encoding': encoding, 'content-type': type } = known.headers
    void reply.header('etag', etag)
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    if (encoding !== undefined) void reply.header('content-encoding', encoding)
    return reply.header('content-type', type).send(known.body)
  })
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }))
}

/** As it was sent: `fetch` would decode it. */
async function readResponse(url: string, encoding: string) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  get(url, { headers: { 'accept-encoding': encoding } }, resolve).once('error', reject)
  const response = await promise
  return { headers: response.headers, body: await buffer(response) }
}
