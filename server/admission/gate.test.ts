import { afterEach, expect, it, vi } from 'vitest'
import { Gate } from './gate.ts'

const { signal } = new AbortController()
const busy = { code: 'busy', message: 'full' }

afterEach(() => {
  vi.useRealTimers()
})

function newGate(limit: number, waiting: number, waitMs?: number): Gate {
  return new Gate({ limit, waiting, ...(waitMs !== undefined && { waitMs }), busyMessage: 'full' })
}

it('admits up to its limit, lets some wait in order, and refuses the rest', async () => {
  const gate = newGate(2, 2)
  const first = await gate.enter(signal)
  await gate.enter(signal)
  const order: number[] = []
  const third = gate.enter(signal).then(() => order.push(3))
  const fourth = gate.enter(signal).then(() => order.push(4))
  await expect(gate.enter(signal)).rejects.toMatchObject(busy)
  expect(gate.figures).toEqual({ used: 2, waiting: 2, admitted: 2, refused: 1 })
  first()
  first()
  await third
  expect(order).toEqual([3])
  expect(gate.figures).toEqual({ used: 2, waiting: 1, admitted: 3, refused: 1 })
  void fourth
})

it('counts costs, and lets no small one overtake a large one', async () => {
  const gate = newGate(10, 5)
  const release = await gate.enter(signal, 6)
  const order: string[] = []
  const large = gate.enter(signal, 1000).then((leave) => {
    order.push('large')
    leave()
  })
  const small = gate.enter(signal, 1).then(() => order.push('small'))
  const extra = gate.add(7)
  release()
  await Promise.resolve()
  expect(order).toEqual([])
  extra()
  await Promise.all([large, small])
  expect(order).toEqual(['large', 'small'])
  expect(gate.figures.used).toBe(1)
})

it('removes an abandoned entry at once, and admits the one after it', async () => {
  const gate = newGate(3, 5)
  await gate.enter(signal, 2)
  const abandoned = new AbortController()
  const large = gate.enter(abandoned.signal, 3)
  const small = gate.enter(signal, 1)
  abandoned.abort(new Error('disconnected'))
  await expect(large).rejects.toThrow('disconnected')
  await small
  await expect(gate.enter(abandoned.signal)).rejects.toThrow('disconnected')
  expect(gate.figures).toEqual({ used: 3, waiting: 0, admitted: 2, refused: 0 })
})

it('refuses an entry that has waited for too long', async () => {
  vi.useFakeTimers()
  const gate = newGate(1, 5, 2000)
  await gate.enter(signal)
  const [late] = await Promise.all([
    gate.enter(signal).catch((error: unknown) => error),
    vi.advanceTimersByTimeAsync(2000),
  ])
  expect(late).toMatchObject(busy)
  expect(gate.figures).toEqual({ used: 1, waiting: 0, admitted: 1, refused: 1 })
})

it('admits the next one when work fails', async () => {
  const gate = newGate(1, 1)
  const failing = gate.run(async () => Promise.reject(new Error('failed')), signal)
  const next = gate.run(async () => 'done', signal)
  await expect(failing).rejects.toThrow('failed')
  expect(await next).toBe('done')
  expect(gate.figures.used).toBe(0)
})
