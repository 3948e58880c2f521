import { EventEmitter } from 'node:events'
import { afterEach, expect, test, vi } from 'vitest'
import { currentClient, runForClient } from '../base/admission/client.ts'
import { Demand } from '../base/admission/demand.ts'
import { OwnEncodeSlots } from '../base/admission/encode-slots.ts'
import { OwnEgress } from '../base/admission/egress.ts'
import type { Egress } from '../base/admission/egress.ts'
import type { Charged, EncodeSlots } from '../base/admission/encode-slots.ts'
import { admissionOfPrimary, admitForWorker } from './admission-requests.ts'

const soon = { signal: new AbortController().signal }

afterEach(() => vi.useRealTimers())

/** A worker whose messages arrive in the same process. */
function connect(encodeSlots: EncodeSlots, egress?: Egress) {
  const inPrimary = Object.assign(new EventEmitter(), {
    isConnected: () => true,
    send: (message: unknown) => inWorker.emit('message', structuredClone(message)),
  })
  const inWorker = Object.assign(new EventEmitter(), {
    process: {
      send: (message: unknown) => inPrimary.emit('message', structuredClone(message)),
    },
  })
  // Only these methods of a worker are called.
  const primary = inPrimary as unknown as Parameters<typeof admitForWorker>[0]
  admitForWorker(primary, { encodeSlots, egress })
  const worker = inWorker as unknown as Parameters<typeof admissionOfPrimary>[0]
  const { encodeSlots: slots, ...admission } = admissionOfPrimary(worker)
  return { slots, egress: admission.egress, exit: () => inPrimary.emit('exit') }
}

test('workers share the slots of the node', async () => {
  const own = new OwnEncodeSlots({ concurrency: 1 })
  const [first, second] = [connect(own), connect(own)]
  const running = Promise.withResolvers<{ cpuMs: number }>()
  const encoded = first.slots.run(async () => running.promise, soon)
  await expect(
    second.slots.run(async () => ({ cpuMs: 0 }), { ...soon, demand: new Demand() }),
  ).rejects.toMatchObject({ code: 'busy' })
  const waiting = second.slots.run(async () => ({ cpuMs: 5 }), soon)
  running.resolve({ cpuMs: 7 })
  expect(await encoded).toEqual({ cpuMs: 7 })
  expect(await waiting).toEqual({ cpuMs: 5 })
})

test('the primary charges the client of the worker', async () => {
  const charged: [string, number][] = []
  const { slots } = connect({
    run: async (encode) => {
      const result = await encode(soon.signal)
      charged.push([currentClient(), result.cpuMs])
      return result
    },
  })
  await runForClient(
    () => '192.0.2.1',
    async () => slots.run(async () => ({ cpuMs: 12 }), soon),
  )
  await expect.poll(() => charged).toEqual([['192.0.2.1', 12]])
})

test('the primary charges the time of an encode that fails in the worker', async () => {
  vi.useFakeTimers()
  const charged: number[] = []
  const { slots } = connect({
    run: async (encode) => {
      const result = await encode(soon.signal)
      charged.push(result.cpuMs)
      return result
    },
  })
  const stopped = async (): Promise<never> => {
    vi.advanceTimersByTime(1500)
    throw new Error('stopped')
  }
  await expect(slots.run(stopped, soon)).rejects.toThrow('stopped')
  expect(charged).toEqual([1500])
})

test('a worker that ends gives its slots back', async () => {
  const own = new OwnEncodeSlots({ concurrency: 1 })
  const [first, second] = [connect(own), connect(own)]
  void first.slots.run(async () => new Promise<Charged>(() => undefined), soon)
  const waiting = second.slots.run(async () => ({ cpuMs: 1 }), soon)
  first.exit()
  expect(await waiting).toEqual({ cpuMs: 1 })
})

test('what nobody waits for in one worker is stopped for another one', async () => {
  const own = new OwnEncodeSlots({ concurrency: 1 })
  const [first, second] = [connect(own), connect(own)]
  const running = Promise.withResolvers<AbortSignal>()
  const demand = new Demand()
  const encoded = first.slots.run(
    async (stop) => {
      running.resolve(stop)
      await new Promise((resolve) => stop.addEventListener('abort', resolve))
      return { cpuMs: 0 }
    },
    { ...soon, demand },
  )
  const stop = await running.promise
  const leave = demand.add()
  const waiting = second.slots.run(async () => ({ cpuMs: 5 }), soon)
  expect(stop.aborted).toBe(false)
  leave()
  expect(await encoded).toEqual({ cpuMs: 0 })
  expect(await waiting).toEqual({ cpuMs: 5 })
})

test('a request that is abandoned leaves the queue', async () => {
  const own = new OwnEncodeSlots({ concurrency: 1 })
  const { slots } = connect(own)
  const running = Promise.withResolvers<{ cpuMs: number }>()
  const first = slots.run(async () => running.promise, soon)
  const leaving = new AbortController()
  const abandoned = slots.run(async () => ({ cpuMs: 0 }), { signal: leaving.signal })
  leaving.abort(new Error('gone'))
  await expect(abandoned).rejects.toThrow('gone')
  running.resolve({ cpuMs: 0 })
  await first
  expect(await slots.run(async () => ({ cpuMs: 3 }), soon)).toEqual({ cpuMs: 3 })
})

test('workers share the egress budgets of the node', async () => {
  vi.useFakeTimers()
  const egress = new OwnEgress({ bytesPerSecondPerClient: 1000 })
  const own = new OwnEncodeSlots({ concurrency: 1 })
  const [first, second] = [connect(own, egress), connect(own, egress)]
  const start = { client: '192.0.2.1', bytes: 18_000, part: 'start' } as const
  await first.egress.admit(start, soon.signal)
  await second.egress.admit({ ...start, client: '192.0.2.2', bytes: 22_001 }, soon.signal)
  await expect(
    second.egress.admit({ ...start, client: '192.0.2.2' }, soon.signal),
  ).rejects.toMatchObject({
    code: 'busy',
    message: 'the server sends as much as it may; try again soon',
  })
  const order: string[] = []
  const leaving = new AbortController()
  const abandoned = first.egress.admit(start, leaving.signal)
  const waiting = second.egress.admit({ ...start, part: 'rest' }, soon.signal)
  leaving.abort(new Error('gone'))
  await expect(abandoned).rejects.toThrow('gone')
  void waiting.then(() => order.push('next'))
  expect(order).toEqual([])
  await vi.advanceTimersByTimeAsync(100)
  expect(order).toEqual(['next'])
})
