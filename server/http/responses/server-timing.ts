// The Server-Timing header: how long the phases of a request took (W3C Server Timing 3).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** `name;dur=ms` of each finished phase; undefined if the header is not sent. */
    phases: string[] | undefined
  }
}

/** Adds the header to every response; without this call the other functions do nothing. */
export function addServerTiming(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.phases = []
    done()
  })
  // oxlint-disable-next-line max-params -- Fastify's signature; an async hook delays each response
  app.addHook('onSend', (request, reply, _payload, done) => {
    setServerTiming(request, reply)
    done()
  })
}

/** Measures one phase of a request, from now until the returned function is called. */
export function startPhase({ phases }: FastifyRequest, name: string): () => void {
  if (phases === undefined) return doNothing
  const startedMs = performance.now()
  return () => void phases.push(formatPhase(name, performance.now() - startedMs))
}

/** Sets the header. Call it before a response that bypasses Fastify's hooks. */
export function setServerTiming({ phases }: FastifyRequest, reply: FastifyReply): void {
  if (phases === undefined) return
  const total = formatPhase('total', reply.elapsedTime)
  void reply.header('server-timing', [...phases, total].join(', '))
}

const doNothing = (): void => undefined

function formatPhase(name: string, ms: number): string {
  return `${name};dur=${ms.toFixed(1)}`
}
