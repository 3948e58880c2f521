// What the primary admits for workers, so that the limits are of the node: encodes of video, here
// or on other nodes, and bytes to send.
import type { Worker } from 'node:cluster'
import { addAbortListener } from 'node:events'
import { z } from 'zod'
import { currentClient, MAX_KEY_LENGTH, runForClient } from '../base/admission/client.ts'
import type { Egress } from '../base/admission/egress.ts'
import { Demand } from '../base/admission/demand.ts'
import { runCharged } from '../base/admission/encode-slots.ts'
import type { Charged, Encode, EncodeSlots, SlotRequest } from '../base/admission/encode-slots.ts'
import { AppError, reasonOf } from '../base/errors.ts'
import type { EncodedFile, EncodingNodes } from '../stream/hls/segment/encoded-video.ts'

const sessionShape = z.object({ streamer: z.string(), date: z.string(), sessionId: z.string() })
const client = z.string().max(MAX_KEY_LENGTH)
const workShape = z.union([
  z.object({
    client,
    isWanted: z.boolean(),
    file: z.object({ session: sessionShape, version: z.string(), name: z.string() }),
  }),
  z.object({ client, isWanted: z.boolean() }),
  z.object({ client, part: z.enum(['start', 'rest']), bytes: z.number().positive() }),
])
type Work = z.infer<typeof workShape>

/** Messages of a worker: it needs admission, more or less urgently, or not any more. */
const requestShape = z.union([
  z.object({ admit: z.object({ id: z.int(), work: workShape }) }),
  z.object({ demand: z.object({ id: z.int(), isWanted: z.boolean() }) }),
  z.object({ ended: z.object({ id: z.int(), cpuMs: z.number().nonnegative() }) }),
])
type AdmissionMessage = z.infer<typeof requestShape>
/** Responses of the primary. */
const responseShape = z.union([
  z.object({
    admission: z.object({
      id: z.int(),
      refusal: z.string().optional(),
      /** Whether other nodes encode the file. */
      isElsewhere: z.boolean().optional(),
    }),
  }),
  z.object({ stop: z.int() }),
])
type PrimaryMessage = z.infer<typeof responseShape>
type Admission = Extract<PrimaryMessage, { admission: unknown }>['admission']

/** What a node limits as a whole. */
export interface NodeAdmission {
  encodeSlots: EncodeSlots
  /** Undefined: unlimited. */
  egress: Egress | undefined
  /** Undefined: this node encodes. */
  encodingNodes?: EncodingNodes | undefined
}

/** Of a worker: what the primary admits. If the primary ends, so do workers. */
export function admissionOfPrimary(
  worker: Pick<Worker, 'on' | 'process'>,
): Required<NodeAdmission> & { egress: Egress; encodingNodes: EncodingNodes } {
  const waiting = new Map<number, (admission: Omit<Admission, 'id'>) => void>()
  const stops = new Map<number, () => void>()
  let lastId = 0
  worker.on('message', (message: unknown) => {
    const { data } = responseShape.safeParse(message)
    if (data === undefined) return
    if ('stop' in data) stops.get(data.stop)?.()
    else waiting.get(data.admission.id)?.(data.admission)
  })
  const send = (message: AdmissionMessage, onFailure: () => void): void => {
    worker.process.send?.(message, (error: Error | null) => {
      if (error !== null) onFailure()
    })
  }
  const end = (id: number, cpuMs: number): void => send({ ended: { id, cpuMs } }, () => undefined)
  const enter: PrimaryLink['enter'] = async (id, work, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<Omit<Admission, 'id'>>()
    waiting.set(id, resolve)
    using _aborting = addAbortListener(signal, () => reject(signal.reason))
    send({ admit: { id, work } }, () => resolve({ refusal: 'the server is ending' }))
    try {
      const { refusal, isElsewhere = false } = await promise
      if (refusal !== undefined) throw new AppError('busy', refusal)
      return { isElsewhere }
    } finally {
      waiting.delete(id)
    }
  }
  const egress: Egress = {
    async admit(request, signal) {
      signal.throwIfAborted()
      const id = (lastId += 1)
      await enter(id, request, signal).finally(() => signal.aborted && end(id, 0))
    },
  }
  const encodingNodes: EncodingNodes = {
    async encode(file, { isWanted, signal }) {
      signal.throwIfAborted()
      const id = (lastId += 1)
      const entering = enter(id, { client: currentClient(), isWanted, file }, signal)
      return (await entering.finally(() => signal.aborted && end(id, 0))).isElsewhere
    },
  }
  const encodeSlots = slotsOfPrimary({ enter, end, send, stops, nextId: () => (lastId += 1) })
  return { encodeSlots, egress, encodingNodes }
}

/** Messages of a worker to the primary. */
interface PrimaryLink {
  /** Resolves when the work is admitted. */
  enter: (id: number, work: Work, signal: AbortSignal) => Promise<{ isElsewhere: boolean }>
  end: (id: number, cpuMs: number) => void
  send: (message: AdmissionMessage, onFailure: () => void) => void
  /** Called when the primary wants the slot back. */
  stops: Map<number, () => void>
  nextId: () => number
}

function slotsOfPrimary({ enter, end, send, stops, nextId }: PrimaryLink): EncodeSlots {
  return {
    async run<Result extends Charged>(encode: Encode<Result>, { demand, signal }: SlotRequest) {
      signal.throwIfAborted()
      const id = nextId()
      const stop = new AbortController()
      const ended = new AbortController()
      const isWanted = (): boolean => demand?.isThere ?? true
      // Somebody may wait again since the primary has sent it.
      stops.set(id, () => isWanted() || stop.abort(new AppError('busy', 'nobody waits for it')))
      const report = (): void => send({ demand: { id, isWanted: isWanted() } }, () => undefined)
      demand?.watch(report, ended.signal)
      let cpuMs = 0
      try {
        await enter(id, { client: currentClient(), isWanted: isWanted() }, signal)
        return await runCharged(
          async () => encode(stop.signal),
          (spentMs) => (cpuMs = spentMs),
        )
      } finally {
        ended.abort()
        stops.delete(id)
        end(id, cpuMs)
      }
    },
  }
}

/** Of the primary: handles the messages of a worker, and takes back its slots when it ends. */
export function admitForWorker(
  worker: Pick<Worker, 'isConnected' | 'on' | 'once' | 'send'>,
  { encodeSlots, egress, encodingNodes }: NodeAdmission,
): void {
  const admitted = new Map<number, Admitted>()
  const send = (message: PrimaryMessage): void => {
    if (worker.isConnected()) worker.send(message, () => undefined)
  }
  const admit = async (id: number, work: Work): Promise<void> => {
    const ended = Promise.withResolvers<number>()
    const leaving = new AbortController()
    const { signal } = leaving
    const wanted = new WorkerDemand()
    const end = (cpuMs: number): void => {
      ended.resolve(cpuMs)
      leaving.abort()
    }
    admitted.set(id, { end, wanted })
    const encode = async (stop: AbortSignal): Promise<Charged> => {
      stop.addEventListener('abort', () => send({ stop: id }), { once: true })
      send({ admission: { id } })
      return { cpuMs: await ended.promise }
    }
    const askNodes = async (file: EncodedFile, isWanted: boolean): Promise<boolean> =>
      encodingNodes === undefined ? false : encodingNodes.encode(file, { isWanted, signal })
    try {
      if ('file' in work) {
        const { file, isWanted } = work
        const isElsewhere = await runForClient(
          () => work.client,
          async () => askNodes(file, isWanted),
        )
        send({ admission: { id, isElsewhere } })
      } else if ('isWanted' in work) {
        wanted.set(work.isWanted)
        await runForClient(
          () => work.client,
          async () => encodeSlots.run(encode, { demand: wanted.demand, signal }),
        )
      } else {
        await egress?.admit(work, signal)
        send({ admission: { id } })
      }
    } catch (error) {
      send({ admission: { id, refusal: reasonOf(error) } })
    } finally {
      admitted.delete(id)
    }
  }
  worker.on('message', (message: unknown) => {
    const { data } = requestShape.safeParse(message)
    if (data === undefined) return
    if ('admit' in data) void admit(data.admit.id, data.admit.work)
    else if ('demand' in data) admitted.get(data.demand.id)?.wanted.set(data.demand.isWanted)
    else admitted.get(data.ended.id)?.end(data.ended.cpuMs)
  })
  worker.once('exit', () => admitted.forEach(({ end }) => end(0)))
}

/** What the primary has admitted, or what waits. */
interface Admitted {
  end: (cpuMs: number) => void
  wanted: WorkerDemand
}

/** Whether somebody waits in a worker, as it last reported. */
class WorkerDemand {
  readonly demand = new Demand()
  #leave: (() => void) | undefined

  set(isWanted: boolean): void {
    if (isWanted) this.#leave ??= this.demand.add()
    else {
      this.#leave?.()
      this.#leave = undefined
    }
  }
}
