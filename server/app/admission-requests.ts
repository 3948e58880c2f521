// What the primary admits for workers, so that the limits are of the node: encodes of video, and
// bytes to send.
import type { Worker } from 'node:cluster'
import { z } from 'zod'
import { currentClient, MAX_KEY_LENGTH, runForClient } from '../base/admission/client.ts'
import type { Egress } from '../base/admission/egress.ts'
import type { Charged, EncodeSlots, SlotRequest } from '../base/admission/encode-slots.ts'
import { AppError, reasonOf } from '../base/errors.ts'

const client = z.string().max(MAX_KEY_LENGTH)
const workShape = z.union([
  z.object({ client, when: z.enum(['soon', 'idle']) }),
  z.object({ client, part: z.enum(['start', 'rest']), bytes: z.number().positive() }),
])
type Work = z.infer<typeof workShape>

/** Messages of a worker: it needs admission, or does not need it any more. */
const requestShape = z.union([
  z.object({ admit: z.object({ id: z.int(), work: workShape }) }),
  z.object({ ended: z.object({ id: z.int(), cpuMs: z.number().nonnegative() }) }),
])
type AdmissionMessage = z.infer<typeof requestShape>
/** Response of the primary. */
const responseShape = z.object({
  admission: z.object({ id: z.int(), refusal: z.string().optional() }),
})

/** What a node limits as a whole. */
export interface NodeAdmission {
  encodeSlots: EncodeSlots
  /** Undefined: unlimited. */
  egress: Egress | undefined
}

/** Of a worker: what the primary admits. If the primary ends, so do workers. */
export function admissionOfPrimary(
  worker: Pick<Worker, 'on' | 'process'>,
): NodeAdmission & { egress: Egress } {
  const waiting = new Map<number, (refusal: string | undefined) => void>()
  let lastId = 0
  worker.on('message', (message: unknown) => {
    const { data } = responseShape.safeParse(message)
    if (data !== undefined) waiting.get(data.admission.id)?.(data.admission.refusal)
  })
  const send = (message: AdmissionMessage, onFailure: () => void): void => {
    worker.process.send?.(message, (error: Error | null) => {
      if (error !== null) onFailure()
    })
  }
  const end = (id: number, cpuMs: number): void => send({ ended: { id, cpuMs } }, () => undefined)
  const enter = async (id: number, work: Work, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
    const abort = (): void => reject(signal.reason)
    waiting.set(id, resolve)
    signal.addEventListener('abort', abort, { once: true })
    send({ admit: { id, work } }, () => resolve('the server is ending'))
    try {
      const refusal = await promise
      if (refusal !== undefined) throw new AppError('busy', refusal)
    } finally {
      waiting.delete(id)
      signal.removeEventListener('abort', abort)
    }
  }
  const encodeSlots: EncodeSlots = {
    async run<Result extends Charged>(
      encode: () => Promise<Result>,
      { when, signal }: SlotRequest,
    ) {
      signal.throwIfAborted()
      const id = (lastId += 1)
      let cpuMs = 0
      try {
        await enter(id, { client: currentClient(), when }, signal)
        const result = await encode()
        cpuMs = result.cpuMs
        return result
      } finally {
        end(id, cpuMs)
      }
    },
  }
  const egress: Egress = {
    async admit(request, signal) {
      signal.throwIfAborted()
      const id = (lastId += 1)
      await enter(id, request, signal).finally(() => signal.aborted && end(id, 0))
    },
  }
  return { encodeSlots, egress }
}

/** Of the primary: handles the messages of a worker, and takes back its slots when it ends. */
export function admitForWorker(
  worker: Pick<Worker, 'isConnected' | 'on' | 'once' | 'send'>,
  { encodeSlots, egress }: NodeAdmission,
): void {
  const admitted = new Map<number, (cpuMs: number) => void>()
  const respond = (id: number, refusal?: string): void => {
    if (worker.isConnected()) worker.send({ admission: { id, refusal } }, () => undefined)
  }
  const admit = async (id: number, work: Work): Promise<void> => {
    const ended = Promise.withResolvers<number>()
    const leaving = new AbortController()
    const { signal } = leaving
    admitted.set(id, (cpuMs) => {
      ended.resolve(cpuMs)
      leaving.abort()
    })
    const encode = async (): Promise<Charged> => {
      respond(id)
      return { cpuMs: await ended.promise }
    }
    try {
      if ('when' in work) {
        await runForClient(
          () => work.client,
          async () => encodeSlots.run(encode, { when: work.when, signal }),
        )
      } else {
        await egress?.admit(work, signal)
        respond(id)
      }
    } catch (error) {
      respond(id, reasonOf(error))
    } finally {
      admitted.delete(id)
    }
  }
  worker.on('message', (message: unknown) => {
    const { data } = requestShape.safeParse(message)
    if (data === undefined) return
    if ('admit' in data) void admit(data.admit.id, data.admit.work)
    else admitted.get(data.ended.id)?.(data.ended.cpuMs)
  })
  worker.once('exit', () => admitted.forEach((end) => end(0)))
}
