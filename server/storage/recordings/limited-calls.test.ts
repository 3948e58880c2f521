// Storage of which some calls never end.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { limitCalls } from './limited-calls.ts'
import type { Storage } from './storage.ts'

let calls: string[]
let open: Map<string, () => void>

beforeEach(() => {
  calls = []
  open = new Map()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => vi.useRealTimers())

/** Lists of `hang/…` end when the test ends them. */
const storage: Storage = {
  async list(folder) {
    calls.push(folder)
    if (!folder.startsWith('hang/')) return []
    return new Promise((resolve) => open.set(folder, () => resolve([])))
  },
  stat: async () => Promise.reject(new Error('unused')),
  open: async () => Promise.reject(new Error('unused')),
  watch: async () => undefined,
}

test('a call that hangs ends after a limit, and is not repeated before it has ended', async () => {
  const limited = limitCalls(storage)(new AbortController().signal)
  const hanging = limited.list('hang/1').catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(await hanging).toMatchObject({ code: 'busy' })
  await expect(limited.list('hang/1')).rejects.toMatchObject({ code: 'busy' })
  expect(await limited.list('other')).toEqual([])
  expect(calls).toEqual(['hang/1', 'other'])
  open.get('hang/1')?.()
  await vi.advanceTimersByTimeAsync(0)
  const again = limited.list('hang/1')
  open.get('hang/1')?.()
  expect(await again).toEqual([])
})

test('no call begins while two hang', async () => {
  const limited = limitCalls(storage)(new AbortController().signal)
  const hanging = ['hang/1', 'hang/2'].map(async (folder) => limited.list(folder))
  const ended = Promise.allSettled(hanging)
  await vi.advanceTimersByTimeAsync(600_000)
  await ended
  await expect(limited.list('other')).rejects.toMatchObject({ code: 'busy' })
  open.get('hang/2')?.()
  await vi.advanceTimersByTimeAsync(0)
  expect(await limited.list('other')).toEqual([])
})

test('calls end when the signal aborts, also those of a later scan', async () => {
  const until = limitCalls(storage)
  const stopping = new AbortController()
  const hanging = until(stopping.signal).list('hang/1')
  stopping.abort(new Error('stopped'))
  await expect(hanging).rejects.toThrow('stopped')
  await expect(until(stopping.signal).list('other')).rejects.toThrow('stopped')
  await expect(until(new AbortController().signal).list('hang/1')).rejects.toThrow('respond')
  expect(calls).toEqual(['hang/1'])
})
