// Registers endpoints: each request is admitted, and the value that the endpoint returns is sent.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { abandonable, admitted } from './admitted.ts'
import type { AbandonableHandler } from './admitted.ts'
import type { Endpoint } from './responses/answer.ts'
import type { Responder } from './responses/responder.ts'

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
