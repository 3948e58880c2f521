import { describe, expect, it } from 'vitest'
import { BufferPool, BufferLease } from './buffer-pool.ts'

const RESPONSES = 300
const MEBIBYTE = 1024 * 1024

describe('BufferPool', () => {
  it('limits the memory of hundreds of concurrent responses', () => {
    const pool = new BufferPool()
    const buffers = Array.from({ length: RESPONSES }, () => pool.take())
    const takenBytes = buffers.reduce((sum, { length }) => sum + length, 0)
    expect(takenBytes).toBeLessThan(120 * MEBIBYTE)
    expect(Math.min(...buffers.map(({ length }) => length))).toBeGreaterThan(0)
  })

  it('reuses a buffer that was given back', () => {
    const pool = new BufferPool()
    const buffer = pool.take()
    pool.give(buffer)
    expect(pool.take()).toBe(buffer)
  })
})

describe('BufferLease', () => {
  it('recognises bytes of its own buffers', () => {
    const lease = new BufferLease(new BufferPool())
    expect(lease.owns(lease.main.subarray(5, 10))).toBe(true)
    expect(lease.owns(lease.extra(100))).toBe(true)
    expect(lease.owns(new Uint8Array(100))).toBe(false)
  })
})
