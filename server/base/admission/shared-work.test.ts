import { expect, it } from 'vitest'
import { SharedWork } from './shared-work.ts'

/** Work that the test ends, and its signals. */
function controlledWork() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const signals: AbortSignal[] = []
  const start = async (signal: AbortSignal): Promise<string> => {
    signals.push(signal)
    return promise
  }
  return { start, signals, resolve, reject }
}

const { signal } = new AbortController()

it('runs once for concurrent calls, and again after that', async () => {
  const shared = new SharedWork<string>()
  const work = controlledWork()
  const results = [shared.join('a', signal, work.start), shared.join('a', signal, work.start)]
  const other = shared.join('b', signal, async () => 'other')
  work.resolve('done')
  expect(await Promise.all(results)).toEqual(['done', 'done'])
  expect(await other).toBe('other')
  expect(work.signals).toHaveLength(1)
  expect(await shared.join('a', signal, async () => 'again')).toBe('again')
})

it('is aborted when all calls are abandoned, and not before', async () => {
  const shared = new SharedWork<string>()
  const work = controlledWork()
  const [first, second] = [new AbortController(), new AbortController()]
  const results = [
    shared.join('a', first.signal, work.start),
    shared.join('a', second.signal, work.start),
  ]
  first.abort(new Error('first'))
  await expect(results[0]).rejects.toThrow('first')
  expect(work.signals[0]?.aborted).toBe(false)
  second.abort(new Error('second'))
  await expect(results[1]).rejects.toThrow('second')
  expect(work.signals[0]?.aborted).toBe(true)
  expect(await shared.join('a', signal, async () => 'again')).toBe('again')
})

it('rejects every call if the work fails', async () => {
  const shared = new SharedWork<string>()
  const work = controlledWork()
  const results = [shared.join('a', signal, work.start), shared.join('a', signal, work.start)]
  work.reject(new Error('failed'))
  for (const result of results) await expect(result).rejects.toThrow('failed')
})
