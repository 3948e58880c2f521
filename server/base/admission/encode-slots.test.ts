import { expect, test } from 'vitest'
import { runForClient } from './client.ts'
import { OwnEncodeSlots } from './encode-slots.ts'

const { signal } = new AbortController()
const soon = { when: 'soon', signal } as const

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
  await expect(slots.run(async () => first.promise, { ...soon, when: 'idle' })).rejects.toThrow(
    'too much video',
  )
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

test('leaves time to other clients', async () => {
  const slots = new OwnEncodeSlots({ concurrency: 1, now: () => 0 })
  await encode(slots, 'a', 36_001)
  await expect(encode(slots, 'a', 1)).rejects.toMatchObject({ code: 'busy' })
  await encode(slots, 'b', 1)
})
