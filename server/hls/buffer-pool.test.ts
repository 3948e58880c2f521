// What hundreds of responses at once may hold.
import { describe, expect, it } from 'vitest'
import { BufferPool } from './buffer-pool.ts'
import type { ChunkPurpose } from './buffer-pool.ts'

const RESPONSES = 300
const MEBIBYTE = 1024 * 1024

describe('BufferPool', () => {
  it.each<{ purpose: ChunkPurpose; copies: number }>([
    { purpose: 'plain', copies: 1 },
    // The encrypted bytes beside the plain ones.
    { purpose: 'encrypted', copies: 2 },
  ])('holds little for hundreds of responses, $purpose', ({ purpose, copies }) => {
    const pool = new BufferPool()
    const buffers = Array.from({ length: RESPONSES }, () => pool.take(purpose))
    const heldBytes = buffers.reduce((sum, { length }) => sum + length * copies, 0)
    expect(heldBytes).toBeLessThan(130 * MEBIBYTE)
    expect(Math.min(...buffers.map(({ length }) => length))).toBeGreaterThan(0)
  })

  it('lends a buffer again once it was given back', () => {
    const pool = new BufferPool()
    const buffer = pool.take('encrypted')
    pool.give('encrypted', buffer)
    expect(pool.take('encrypted')).toBe(buffer)
  })
})
