import { beforeEach, describe, expect, it } from 'vitest'
import { Availability } from './availability.ts'

const LIMIT = { timeoutMs: 60_000 }
const PAUSED = { status: 'paused' }

let nowMs: number
let failures: unknown[]
let attempts: number
let availability: Availability

beforeEach(() => {
  nowMs = 0
  failures = []
  attempts = 0
  availability = new Availability({ now: () => nowMs, onFailure: (error) => failures.push(error) })
})

async function succeed() {
  return availability.run(async () => (attempts += 1), LIMIT)
}

async function fail() {
  return availability.run(async () => {
    attempts += 1
    throw new Error('down')
  }, LIMIT)
}

describe('an available store', () => {
  it('is tried every time', async () => {
    expect(await succeed()).toEqual({ status: 'done', value: 1 })
    expect(await succeed()).toEqual({ status: 'done', value: 2 })
    expect(failures).toEqual([])
  })

  it('is not unavailable because a request was abandoned', async () => {
    const abandoned = AbortSignal.abort(new Error('abandoned'))
    const limit = { ...LIMIT, signal: abandoned }
    await expect(availability.run(async () => 1, limit)).rejects.toThrow('abandoned')
    expect(await succeed()).toMatchObject({ status: 'done' })
  })
})

describe('an unavailable store', () => {
  it('is not tried again before a pause, which doubles up to 30 s', async () => {
    for (const pauseMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      const before = attempts
      expect(await fail()).toMatchObject({ status: 'failed' })
      expect(attempts).toBe(before + 1)
      expect(availability.pauseMs).toBe(pauseMs)
      nowMs += pauseMs - 1
      expect(await succeed()).toEqual(PAUSED)
      expect(attempts).toBe(before + 1)
      nowMs += 1
    }
    expect(failures).toHaveLength(7)
    expect(await succeed()).toMatchObject({ status: 'done' })
    expect(await fail()).toEqual({ status: 'failed', error: new Error('down') })
    expect(availability.pauseMs).toBe(1000)
  })

  it('begins one pause when many attempts fail together', async () => {
    await Promise.all(Array.from({ length: 20 }, fail))
    expect(attempts).toBe(20)
    expect(availability.pauseMs).toBe(1000)
    expect(failures).toHaveLength(1)
  })

  it('is tried by one request after a pause, while others do without it', async () => {
    await fail()
    nowMs += 1000
    const { promise, resolve } = Promise.withResolvers<string>()
    const first = availability.run(async () => promise, LIMIT)
    expect(await succeed()).toEqual(PAUSED)
    resolve('here')
    expect(await first).toEqual({ status: 'done', value: 'here' })
    expect(await succeed()).toMatchObject({ status: 'done' })
  })

  it('is not tried while an attempt whose time is over has not ended', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const late = await availability.run(async () => promise, { timeoutMs: 1 })
    expect(late).toMatchObject({ status: 'failed' })
    nowMs += 60_000
    expect(await succeed()).toEqual(PAUSED)
    resolve('late')
    await promise
    await expect.poll(succeed).toMatchObject({ status: 'done' })
  })
})
