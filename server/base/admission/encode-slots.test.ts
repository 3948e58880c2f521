import { expect, test } from 'vitest'
import { runForClient } from './client.ts'
import { Demand } from './demand.ts'
import { OwnEncodeSlots } from './encode-slots.ts'

const { signal } = new AbortController()
const soon = { signal }

/** Runs an encode of this processor time for a client. */
async function encode(slots: OwnEncodeSlots, client: string, cpuMs: number): Promise<unknown> {
  return runForClient(
    () => client,
    async () => slots.run(async () => ({ cpuMs }), soon),
  )
}

test('admits so many encodes at once', async () => {
  const slots = new OwnEncodeSlots({ concurrency: 1 })
  const first = Promise.withResolvers<{ cpuMs: number }>()
  const running = slots.run(async () => first.promise, soon)
  const order: string[] = []
  const second = slots.run(async () => {
    order.push('second')
    return { cpuMs: 0 }
  }, soon)
  const ahead = { ...soon, demand: new Demand() }
  await expect(slots.run(async () => first.promise, ahead)).rejects.toThrow('too much video')
  order.push('first ends')
  first.resolve({ cpuMs: 0 })
  await Promise.all([running, second])
  expect(order).toEqual(['first ends', 'second'])
})

test('refuses encodes while the processor time of a minute is spent', async () => {
  let nowMs = 0
  const slots = new OwnEncodeSlots({ concurrency: 2, now: () => nowMs })
  await encode(slots, 'a', 48_000)
  await encode(slots, 'b', 48_001)
  await expect(encode(slots, 'c', 1)).rejects.toMatchObject({ code: 'busy' })
  nowMs = 1
  await encode(slots, 'c', 1)
})

test('charges the time of an encode that fails or is stopped', async () => {
  let nowMs = 0
  const slots = new OwnEncodeSlots({ concurrency: 1, now: () => nowMs })
  const stopped = async () => {
    nowMs += 36_001
    throw new Error('stopped')
  }
  await expect(
    runForClient(
      () => 'a',
      async () => slots.run(stopped, soon),
    ),
  ).rejects.toThrow('stopped')
  await expect(encode(slots, 'a', 1)).rejects.toMatchObject({ code: 'busy' })
  await encode(slots, 'b', 1)
})

test('leaves time to other clients', async () => {
  const slots = new OwnEncodeSlots({ concurrency: 1, now: () => 0 })
  await encode(slots, 'a', 36_001)
  await expect(encode(slots, 'a', 1)).rejects.toMatchObject({ code: 'busy' })
  await encode(slots, 'b', 1)
})

/** Starts an encode of a client that ends when it is stopped. */
function start(slots: OwnEncodeSlots, client: string, demand: Demand) {
  const state = { isStopped: false }
  const { promise, resolve } = Promise.withResolvers<{ cpuMs: number }>()
  const begun = Promise.withResolvers<void>()
  const encodeUntilStopped = async (stop: AbortSignal) => {
    begun.resolve()
    stop.addEventListener('abort', () => {
      state.isStopped = true
      resolve({ cpuMs: 0 })
    })
    return promise
  }
  const ended = runForClient(
    () => client,
    async () => slots.run(encodeUntilStopped, { demand, signal }),
  )
  return { state, begun: begun.promise, ended }
}

test('stops what nobody waits for while its client waits for a slot', async () => {
  const slots = new OwnEncodeSlots({ concurrency: 2 })
  const first = start(slots, 'a', new Demand())
  const second = start(slots, 'a', new Demand())
  await Promise.all([first.begun, second.begun])
  const other = encode(slots, 'b', 0)
  // Neither for another client, nor more than it needs.
  expect([first.state.isStopped, second.state.isStopped]).toEqual([false, false])
  await encode(slots, 'a', 0)
  await other
  expect([first.state.isStopped, second.state.isStopped]).toEqual([true, false])
})

test('stops an encode when the last one that waits for it leaves', async () => {
  const slots = new OwnEncodeSlots({ concurrency: 1 })
  const demand = new Demand()
  const leave = demand.add()
  const running = start(slots, 'a', demand)
  await running.begun
  const next = encode(slots, 'a', 0)
  expect(running.state.isStopped).toBe(false)
  const leaveAgain = demand.add()
  leave()
  expect(running.state.isStopped).toBe(false)
  leaveAgain()
  expect(running.state.isStopped).toBe(true)
  await next
})

test('does not begin what nobody waits for any more', async () => {
  const slots = new OwnEncodeSlots({ concurrency: 1 })
  const running = start(slots, 'a', new Demand())
  await running.begun
  const demand = new Demand()
  const leave = demand.add()
  const waiting = start(slots, 'b', demand)
  leave()
  await expect(waiting.ended).rejects.toMatchObject({ code: 'busy' })
  expect(running.state.isStopped).toBe(false)
})
