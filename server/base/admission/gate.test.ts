import { afterEach, expect, it, vi } from 'vitest'
import { runForClient } from './client.ts'
import { Gate } from './gate.ts'
import { SharedWork } from './shared-work.ts'

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

/** Entries of clients that leave a gate of one at once, in the order of their results. */
function enterAll(gate: Gate, clients: string[]): { results: string[]; done: Promise<void> } {
  const results: string[] = []
  const entries = clients.map(async (client, at) => {
    const entry = runForClient(
      () => client,
      async () => gate.run(async () => undefined, signal),
    )
    const outcome = await entry.then(
      () => '',
      (error: Error) => ` ${error.message}`,
    )
    results.push(`${client}${at}${outcome}`)
  })
  return { results, done: Promise.all(entries).then(() => undefined) }
}

it('lets clients take turns, and each of them in order', async () => {
  const gate = newGate(1, 10)
  const release = await gate.enter(signal)
  const { results, done } = enterAll(gate, ['a', 'a', 'a', 'b', 'c', 'b', 'a'])
  release()
  await done
  expect(results).toEqual(['a0', 'b3', 'c4', 'a1', 'b5', 'a2', 'a6'])
  expect(gate.figures).toEqual({ used: 0, waiting: 0, admitted: 8, refused: 0 })
})

it('lets a lone client take the whole queue, and gives others their share of it', async () => {
  const gate = newGate(1, 4)
  const release = await gate.enter(signal)
  // The fifth finds it full. Each newcomer takes the last entry of the longest queue until all are
  // as long as each other; then nobody has a better right.
  const { results, done } = enterAll(gate, ['a', 'a', 'a', 'a', 'a', 'b', 'c', 'b', 'c', 'd', 'e'])
  await vi.waitFor(() => expect(results).toHaveLength(7))
  expect(gate.figures.refused).toBe(7)
  const full = ['a4', 'a3', 'a2', 'c8', 'a1', 'b7', 'e10']
  expect(results.toSorted()).toEqual(full.map((name) => `${name} full`).toSorted())
  release()
  await done
  expect(results.slice(7)).toEqual(['a0', 'b5', 'c6', 'd9'])
})

it('does not let a client wait for all else of the one whose work it shares', async () => {
  const gate = newGate(1, 4)
  const release = await gate.enter(signal)
  const shared = new SharedWork<void>()
  const order: string[] = []
  const request = async (client: string, work: string): Promise<void> =>
    runForClient(
      () => client,
      async () =>
        shared.join(work, signal, async (all) => gate.run(async () => void order.push(work), all)),
    )
  const first = ['a1', 'a2', 'a3', 'a4'].map(async (work) => request('a', work))
  // The newcomer takes the last place of `a`, but not the work that `b` waits for, too.
  const joined = [request('b', 'a4'), request('b', 'a1')]
  const newcomer = request('c', 'c1')
  release()
  const results = await Promise.allSettled([...first, ...joined, newcomer])
  expect(results.map(({ status }) => status).indexOf('rejected')).toBe(2)
  expect(order).toEqual(['a1', 'a4', 'c1', 'a2'])
})

it('counts work of the server as that of one client', async () => {
  const gate = newGate(1, 10)
  const release = await gate.enter(signal)
  const order: string[] = []
  const own = ['first', 'second'].map(async (name) =>
    gate.run(async () => void order.push(name), signal),
  )
  const visitor = runForClient(
    () => 'a',
    async () => gate.run(async () => void order.push('visitor'), signal),
  )
  release()
  await Promise.all([...own, visitor])
  expect(order).toEqual(['first', 'visitor', 'second'])
})

it('gives a turn to the clients after one whose only entry was abandoned', async () => {
  const gate = newGate(1, 10)
  const release = await gate.enter(signal)
  const abandoned = new AbortController()
  const left = runForClient(
    () => 'left',
    async () => gate.enter(abandoned.signal),
  )
  const { results, done } = enterAll(gate, ['a', 'b'])
  abandoned.abort(new Error('disconnected'))
  await expect(left).rejects.toThrow('disconnected')
  release()
  await done
  expect(results).toEqual(['a0', 'b1'])
})
