// Registers endpoints: each request is admitted, and the value that the endpoint returns is sent.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from './responses/answer.ts'
import type { Responder } from './responses/responder.ts'
import { networkOf, runForClient } from '../../base/admission/client.ts'
import type { Gate } from '../../base/admission/gate.ts'
import { startPhase } from './responses/server-timing.ts'

/** Of requests that run to their end. */
const NEVER = new AbortController().signal

export function addEndpoints(
  app: FastifyInstance,
  endpoints: readonly Endpoint[],
  responder: Responder,
): void {
  for (const endpoint of endpoints) app.get(endpoint.path, createHandler(endpoint, responder))
}

function createHandler({ kind, admission, answer }: Endpoint, responder: Responder) {
  const handle = (
    request: FastifyRequest,
    reply: FastifyReply,
    signal: AbortSignal,
  ): FastifyReply | Promise<unknown> => {
    if (kind !== undefined) request.kind = kind
    const answered = answer({ request, signal, tag: (tags) => void reply.headers(tags) })
    return answered instanceof Promise
      ? answered.then((value) => responder.send(request, reply, value))
      : responder.send(request, reply, answered)
  }
  if (admission === undefined) {
    return (request: FastifyRequest, reply: FastifyReply) => handle(request, reply, NEVER)
  }
  const settle: AbandonableHandler = async (request, reply, signal) =>
    handle(request, reply, signal)
  return admission === 'inside' ? abandonable(settle) : admitted(admission, settle)
}

/** Handles a request; the signal aborts when the client disconnects. */
type AbandonableHandler = (
  request: FastifyRequest,
  reply: FastifyReply,
  signal: AbortSignal,
) => Promise<unknown>

/** All work for a request is that of its client, whose share every gate limits. */
export function addClients(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    runForClient(() => networkOf(request.ip), done)
  })
}

/** A handler that the gate admits; the resource is released when it settles. */
export function admitted(gate: Gate, handle: AbandonableHandler) {
  return abandonable(async (request, reply, signal) => {
    const endWait = startPhase(request, 'wait')
    const begin = async (): Promise<unknown> => {
      endWait()
      return handle(request, reply, signal)
    }
    return gate.run(begin, signal)
  })
}

/** A handler that stops if the client disconnects, and then needs no response. */
export function abandonable(handle: AbandonableHandler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const abandoned = new AbortController()
    const abort = (): void => abandoned.abort()
    reply.raw.once('close', abort)
    try {
      return await handle(request, reply, abandoned.signal)
    } catch (error) {
      if (!abandoned.signal.aborted) throw error
      request.log.debug({ err: error }, 'a request was abandoned')
      return reply.hijack()
    } finally {
      reply.raw.off('close', abort)
    }
  }
}

/** Lets the gate admit all requests of the routes in this scope, until their responses end. */
export function admitAll(scope: FastifyInstance, gate: Gate): void {
  scope.addHook(
    'onRequest',
    abandonable(async (_request, reply, signal) => {
      const release = await gate.enter(signal)
      reply.raw.once('close', release)
      if (signal.aborted) release()
    }),
  )
}
