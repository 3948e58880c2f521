import { afterEach, expect, test, vi } from 'vitest'
import { addNetworkBytes, NetworkBytes, reportNetworkBytes } from './network-bytes.ts'

afterEach(() => vi.useRealTimers())

test('are those of an hour, and then forgotten', () => {
  let nowMs = 0
  const networks = new NetworkBytes(() => nowMs)
  networks.add('192.0.2.1', 5)
  nowMs = 59 * 60_000
  networks.add('2001:db8:1:2', 7)
  networks.add('2001:db8:1:2', 1)
  expect(networks.heaviest()).toEqual([
    { network: '2001:db8:1:2', bytes: 8 },
    { network: '192.0.2.1', bytes: 5 },
  ])
  nowMs += 5 * 60_000
  expect(networks.heaviest()).toEqual([{ network: '2001:db8:1:2', bytes: 8 }])
  nowMs += 55 * 60_000
  expect(networks.heaviest()).toEqual([])
})

test('are those of few networks, although there are many', () => {
  const networks = new NetworkBytes(() => 0)
  for (let at = 0; at < 100_000; at += 1) {
    networks.add(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, 1)
    if (at % 1000 === 0) networks.add('192.0.2.1', 5)
  }
  const heaviest = networks.heaviest()
  expect(heaviest).toHaveLength(20)
  expect(heaviest[0]).toEqual({ network: '192.0.2.1', bytes: 500 })
})

test('of workers are added in the primary', () => {
  vi.useFakeTimers()
  const networks = new NetworkBytes(() => 0)
  let messages = 0
  const process = {
    send: (message: unknown) => {
      messages += 1
      addNetworkBytes(structuredClone(message), networks)
      return true
    },
  }
  // Only this method is called.
  const worker = { process } as unknown as Parameters<typeof reportNetworkBytes>[0]
  const workers = [reportNetworkBytes(worker), reportNetworkBytes(worker)]
  for (const each of workers) for (let at = 0; at < 10; at += 1) each.add('192.0.2.1', 3)
  expect(networks.heaviest()).toEqual([])
  vi.advanceTimersByTime(1000)
  expect(networks.heaviest()).toEqual([{ network: '192.0.2.1', bytes: 60 }])
  workers[0]?.add('192.0.2.1', 1)
  vi.advanceTimersByTime(1000)
  expect(networks.heaviest()).toEqual([{ network: '192.0.2.1', bytes: 61 }])
  expect(messages).toBe(3)
  for (const message of [null, 'walked', { sentBytes: [['a', -1]] }, { sentBytes: [[1, 1]] }])
    addNetworkBytes(message, networks)
  expect(networks.heaviest()).toHaveLength(1)
})
