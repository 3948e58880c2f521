// The competitor of `npm run bench -- catalog`: Fastify routes that send prepared bytes.
import Fastify from 'fastify'
import { readResult } from '../read-answer.ts'
import type { RawResponse } from '../read-answer.ts'

/** The responses to send: those of another server to these paths. */
export interface ReadyAnswersOrder {
  origin: string
  paths: string[]
  encodings: readonly string[]
}

process.once('message', (order: ReadyAnswersOrder) => void run(order))

async function run({ origin, paths, encodings }: ReadyAnswersOrder): Promise<void> {
  const ready = new Map<string, RawResponse>()
  for (const path of paths) {
    for (const encoding of encodings) {
      const answer = await readResult(origin + path, { 'accept-encoding': encoding })
      ready.set(`${encoding} ${path}`, answer)
    }
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
