// Slots of workers to encode video in: the primary admits, so that the limits are of the node.
import type { Worker } from 'node:cluster'
import { z } from 'zod'
import { currentClient, MAX_KEY_LENGTH, runForClient } from '../base/admission/client.ts'
import type { Charged, EncodeSlots, SlotRequest } from '../base/admission/encode-slots.ts'
import { AppError } from '../base/errors.ts'

/** Messages of a worker: it needs a slot for a client, or does not need it any more. */
const requestShape = z.union([
  z.object({
    encode: z.object({
      id: z.int(),
      client: z.string().max(MAX_KEY_LENGTH),
      when: z.enum(['soon', 'idle']),
    }),
  }),
  z.object({ encoded: z.object({ id: z.int(), cpuMs: z.number().nonnegative() }) }),
])
type EncodeRequest = z.infer<typeof requestShape>
/** Response of the primary. */
const responseShape = z.object({ slot: z.object({ id: z.int(), isFree: z.boolean() }) })

/** Of a worker: the slots of the primary. If the primary ends, so do workers. */
export function encodeSlotsOfPrimary(worker: Pick<Worker, 'on' | 'process'>): EncodeSlots {
  const waiting = new Map<number, (isFree: boolean) => void>()
  let lastId = 0
  worker.on('message', (message: unknown) => {
    const { data } = responseShape.safeParse(message)
    if (data !== undefined) waiting.get(data.slot.id)?.(data.slot.isFree)
  })
  const send = (request: EncodeRequest, onFailure: () => void): void => {
    worker.process.send?.(request, (error: Error | null) => {
      if (error !== null) onFailure()
    })
  }
  const wait = async (id: number, { when, signal }: SlotRequest): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const abort = (): void => reject(signal.reason)
    waiting.set(id, resolve)
    signal.addEventListener('abort', abort, { once: true })
    send({ encode: { id, client: currentClient(), when } }, () => resolve(false))
    try {
      if (await promise) return
      throw new AppError('busy', 'too much video is being encoded; try again soon')
    } finally {
      waiting.delete(id)
      signal.removeEventListener('abort', abort)
    }
  }
  return {
    async run<Result extends Charged>(encode: () => Promise<Result>, request: SlotRequest) {
      request.signal.throwIfAborted()
      const id = (lastId += 1)
      let cpuMs = 0
      try {
        await wait(id, request)
        const result = await encode()
        cpuMs = result.cpuMs
        return result
      } finally {
        send({ encoded: { id, cpuMs } }, () => undefined)
      }
    },
  }
}

/** Of the primary: handles the messages of a worker, and takes back its slots when it ends. */
export function lendEncodeSlots(
  worker: Pick<Worker, 'isConnected' | 'on' | 'once' | 'send'>,
  slots: EncodeSlots,
): void {
  const lent = new Map<number, (cpuMs: number) => void>()
  const respond = (id: number, isFree: boolean): void => {
    if (worker.isConnected()) worker.send({ slot: { id, isFree } }, () => undefined)
  }
  const lend = async (id: number, client: string, when: SlotRequest['when']): Promise<void> => {
    const ended = Promise.withResolvers<number>()
    const leaving = new AbortController()
    lent.set(id, (cpuMs) => {
      ended.resolve(cpuMs)
      leaving.abort()
    })
    const encode = async (): Promise<Charged> => {
      respond(id, true)
      return { cpuMs: await ended.promise }
    }
    try {
      const request = { when, signal: leaving.signal }
      await runForClient(
        () => client,
        async () => slots.run(encode, request),
      )
    } catch {
      respond(id, false)
    } finally {
      lent.delete(id)
    }
  }
  worker.on('message', (message: unknown) => {
    const { data } = requestShape.safeParse(message)
    if (data === undefined) return
    if ('encode' in data) void lend(data.encode.id, data.encode.client, data.encode.when)
    else lent.get(data.encoded.id)?.(data.encoded.cpuMs)
  })
  worker.once('exit', () => lent.forEach((end) => end(0)))
}
