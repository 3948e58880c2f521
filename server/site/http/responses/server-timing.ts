// How long the phases of a request took: for the log, and for the Server-Timing header (W3C Server
// Timing 3).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** Phases in the order of their start; undefined before `recordPhases`. */
    phases: Phase[] | undefined
    /** Whether the header is sent. */
    hasServerTiming: boolean
  }
}

interface Phase {
  name: string
  startedMs: number
  /** Undefined while it is running. */
  ms: number | undefined
}

/** Records the phases of every request; without this call `startPhase` does nothing. */
export function recordPhases(app: FastifyInstance): void {
  app.decorateRequest('phases', undefined)
  app.decorateRequest('hasServerTiming', false)
  app.addHook('onRequest', (request, _reply, done) => {
    request.phases = []
    done()
  })
}

/** Adds the header to every response; without this call `setServerTiming` does nothing. */
export function addServerTiming(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.hasServerTiming = true
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
  const phase: Phase = { name, startedMs, ms: undefined }
  phases.push(phase)
  return () => void (phase.ms = performance.now() - startedMs)
}

/** Milliseconds by phase; a phase that never ended lasts until now. */
export function phaseTimes({ phases = [] }: FastifyRequest): Record<string, number> | undefined {
  if (phases.length === 0) return undefined
  const nowMs = performance.now()
  const timeOf = ({ startedMs, ms = nowMs - startedMs }: Phase) => Math.round(ms * 10) / 10
  return Object.fromEntries(phases.map((phase) => [phase.name, timeOf(phase)]))
}

/** Sets the header. Call it before a response that bypasses Fastify's hooks. */
export function setServerTiming(
  { phases = [], hasServerTiming }: FastifyRequest,
  reply: FastifyReply,
): void {
  if (!hasServerTiming) return
  const ended = phases.flatMap(({ name, ms }) => (ms === undefined ? [] : [formatPhase(name, ms)]))
  const total = formatPhase('total', reply.elapsedTime)
  void reply.header('server-timing', [...ended, total].join(', '))
}

const doNothing = (): void => undefined

function formatPhase(name: string, ms: number): string {
  return `${name};dur=${ms.toFixed(1)}`
}
