// Budgets with simulated time: no test depends on the speed of the machine.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CountedEgress, createPacing, OwnEgress } from './egress.ts'
import type { Egress, EgressLimits } from './egress.ts'

const { signal } = new AbortController()
const busy = { code: 'busy' }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

/** Requests bytes of a response that has begun, and counts those that were admitted. */
function sending(egress: Egress, client: string) {
  const sent = { bytes: 0 }
  const send = async (bytes: number, abort = signal): Promise<void> => {
    await egress.admit({ client, bytes, part: 'rest' }, abort)
    sent.bytes += bytes
  }
  return { sent, send }
}

const sleep = async (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })

describe('the budget of a client', () => {
  it('has a burst of three segments, then its rate', async () => {
    const { sent, send } = sending(new OwnEgress({ bytesPerSecondPerClient: 2_000_000 }), 'a')
    const all = Array.from({ length: 300 }, async () => send(200_000))
    await vi.advanceTimersByTimeAsync(0)
    expect(sent.bytes).toBe(24_000_000)
    await vi.advanceTimersByTimeAsync(10_000)
    // A grant may exceed what is left.
    expect(sent.bytes).toBeGreaterThanOrEqual(44_000_000)
    expect(sent.bytes).toBeLessThanOrEqual(44_200_000)
    await vi.advanceTimersByTimeAsync(10_000)
    await Promise.all(all)
  })

  it('has the burst of 18 seconds, if it is small', async () => {
    const { sent, send } = sending(new OwnEgress({ bytesPerSecondPerClient: 10_000 }), 'a')
    for (let at = 0; at < 40; at += 1) void send(10_000)
    await vi.advanceTimersByTimeAsync(0)
    expect(sent.bytes).toBe(180_000)
  })

  it('is not that of another one', async () => {
    const egress = new OwnEgress({ bytesPerSecondPerClient: 10_000 })
    const [one, other] = [sending(egress, 'a'), sending(egress, 'b')]
    for (let at = 0; at < 40; at += 1) void one.send(10_000)
    await other.send(10_000)
    expect(other.sent.bytes).toBe(10_000)
  })

  it('refuses a response that would begin later than in four seconds, and no other', async () => {
    const egress = new CountedEgress(new OwnEgress({ bytesPerSecondPerClient: 10_000 }))
    const { sent, send } = sending(egress, 'a')
    const start = async (): Promise<void> =>
      egress.admit({ client: 'a', bytes: 10_000, part: 'start' }, signal)
    await send(200_000)
    const first = [start(), start(), start()]
    await expect(start()).rejects.toMatchObject(busy)
    const later = send(10_000)
    expect(egress.figures).toEqual({ waiting: 4, admitted: 1, refused: 1 })
    await vi.advanceTimersByTimeAsync(2100)
    expect(egress.figures.admitted).toBe(2)
    await vi.advanceTimersByTimeAsync(10_000)
    await Promise.all([...first, later])
    expect(sent.bytes).toBe(210_000)
  })

  it('leaves the place of one who disconnects to the next', async () => {
    const { sent, send } = sending(new OwnEgress({ bytesPerSecondPerClient: 10_000 }), 'a')
    await send(200_000)
    const leaving = new AbortController()
    const left = send(30_000, leaving.signal)
    const next = send(1)
    leaving.abort(new Error('disconnected'))
    await expect(left).rejects.toThrow('disconnected')
    await expect(send(1, leaving.signal)).rejects.toThrow('disconnected')
    await vi.advanceTimersByTimeAsync(2100)
    await next
    expect(sent.bytes).toBe(200_001)
  })

  it('is forgotten when too many others came since', async () => {
    const egress = new OwnEgress({ bytesPerSecondPerClient: 10_000 })
    await sending(egress, 'a').send(1_000_000)
    for (let at = 0; at < 10_000; at += 1) await sending(egress, `${at}`).send(1)
    const again = egress.admit({ client: 'a', bytes: 1, part: 'start' }, signal)
    await expect(again).resolves.toBeUndefined()
  })
})

describe('the budget of all clients', () => {
  it('gives turns to clients, not to requests', async () => {
    const egress = new OwnEgress({ bytesPerSecond: 100_000 })
    const [many, few] = [sending(egress, 'a'), sending(egress, 'b')]
    for (let at = 0; at < 500; at += 1) void many.send(10_000)
    for (let at = 0; at < 50; at += 1) void few.send(10_000)
    const before = many.sent.bytes
    await vi.advanceTimersByTimeAsync(8000)
    expect(few.sent.bytes).toBeGreaterThanOrEqual(390_000)
    expect(many.sent.bytes - before).toBeLessThanOrEqual(2_220_000)
  })

  it('refuses only the client whose own requests are in the way', async () => {
    const egress = new OwnEgress({ bytesPerSecond: 100_000 })
    const many = sending(egress, 'a')
    for (let at = 0; at < 500; at += 1) void many.send(10_000)
    const start = async (client: string): Promise<void> =>
      egress.admit({ client, bytes: 10_000, part: 'start' }, signal)
    await expect(start('a')).rejects.toMatchObject(busy)
    const other = start('b')
    await vi.advanceTimersByTimeAsync(300)
    await other
  })

  it('does not count clients that wait for their own budget', async () => {
    const limits = { bytesPerSecond: 1_000_000, bytesPerSecondPerClient: 10_000 }
    const egress = new OwnEgress(limits)
    for (let client = 0; client < 60; client += 1) {
      const { send } = sending(egress, `${client}`)
      for (let at = 0; at < 5; at += 1) void send(100_000)
    }
    await vi.advanceTimersByTimeAsync(1000)
    const start = egress.admit({ client: 'viewer', bytes: 10_000, part: 'start' }, signal)
    await vi.advanceTimersByTimeAsync(4000)
    await expect(start).resolves.toBeUndefined()
  })
})

describe('200 viewers at twice the speed, and one downloader,', () => {
  const VIEWERS = 200
  const SEGMENT_BYTES = 1_500_000
  /** A segment of six seconds, watched at twice the speed. */
  const WATCH_MS = 3000
  const SEGMENTS = 14
  const CLIENT_BUDGET = 1_000_000
  const NEEDED = (VIEWERS * SEGMENT_BYTES * 1000) / WATCH_MS

  /** Sends a segment as a response does. */
  async function sendSegment(
    egress: Egress,
    client: string,
    { grantBytes, onSent }: { grantBytes: number; onSent?: (bytes: number) => void },
  ): Promise<void> {
    for (let left = SEGMENT_BYTES; left > 0; left -= grantBytes) {
      const part = left === SEGMENT_BYTES ? 'start' : 'rest'
      const bytes = Math.min(left, grantBytes)
      await egress.admit({ client, bytes, part }, signal)
      onSent?.(bytes)
    }
  }

  /** Keeps three segments ahead, as players do. Resolves with the time that it stalled. */
  async function watch(egress: Egress, client: string, grantBytes: number): Promise<number> {
    let playedUntilMs: number | undefined
    let stalledMs = 0
    for (let at = 0; at < SEGMENTS; at += 1) {
      await sendSegment(egress, client, { grantBytes })
      const nowMs = performance.now()
      if (playedUntilMs !== undefined) stalledMs += Math.max(0, nowMs - playedUntilMs)
      playedUntilMs = Math.max(playedUntilMs ?? nowMs, nowMs) + WATCH_MS
      const aheadMs = playedUntilMs - nowMs - 3 * WATCH_MS
      if (aheadMs > 0) await sleep(aheadMs)
    }
    return stalledMs
  }

  it.each<[string, EgressLimits, number]>([
    ['with a budget per client', { bytesPerSecondPerClient: CLIENT_BUDGET }, CLIENT_BUDGET],
    ['with a budget of all', { bytesPerSecond: NEEDED * 1.5 }, NEEDED * 0.5],
    [
      'with both',
      { bytesPerSecond: NEEDED * 1.5, bytesPerSecondPerClient: CLIENT_BUDGET },
      CLIENT_BUDGET,
    ],
  ])('%s: viewers never stall, and the downloader gets its share', async (_, limits, share) => {
    const egress = new OwnEgress(limits)
    const grantBytes = createPacing(limits)?.grantBytes ?? 0
    let isOver = false
    let downloadedBytes = 0
    const onSent = (bytes: number): void => void (downloadedBytes += bytes)
    const download = async (): Promise<void> => {
      while (!isOver) {
        const sending = sendSegment(egress, 'downloader', { grantBytes, onSent })
        await sending.catch(async () => sleep(1000))
      }
    }
    for (let at = 0; at < 1000; at += 1) void download()
    const stalls: number[] = []
    for (let at = 0; at < VIEWERS; at += 1) {
      const watched = sleep(at * 10).then(async () => watch(egress, `viewer ${at}`, grantBytes))
      void watched.then((stalledMs) => stalls.push(stalledMs))
    }
    // All viewers fill their buffers.
    await vi.advanceTimersByTimeAsync(22_000)
    const atStart = downloadedBytes
    await vi.advanceTimersByTimeAsync(4 * WATCH_MS)
    const rate = ((downloadedBytes - atStart) * 1000) / (4 * WATCH_MS)
    await vi.advanceTimersByTimeAsync(15_000)
    isOver = true
    expect(stalls).toEqual(Array.from({ length: VIEWERS }, () => 0))
    expect(rate).toBeGreaterThan(share * 0.95)
    expect(rate).toBeLessThan(share * 1.05)
  })
})
