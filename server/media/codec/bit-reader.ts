// Reads bits and Exp-Golomb numbers (ISO/IEC 14496-10 9.1) from bytes of bounded length.

export interface BitReader {
  /** The next `count` bits (at most 32) as an unsigned number; missing bits read as 0. */
  bits: (count: number) => number
  flag(): boolean
  /** ue(v) */
  unsigned(): number
  /** se(v) */
  signed(): number
  /** Bits read so far. */
  position(): number
  /** Whether more bits were read than exist. */
  isExhausted(): boolean
}

export function createBitReader(bytes: Uint8Array): BitReader {
  let position = 0
  const total = bytes.length * 8

  function bits(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++, position++) {
      const bit = ((bytes[position >>> 3] ?? 0) >>> (7 - (position & 7))) & 1
      value = value * 2 + bit
    }
    return value
  }

  function unsigned(): number {
    let zeros = 0
    while (zeros < 32 && position < total && bits(1) === 0) zeros++
    return 2 ** zeros - 1 + bits(zeros)
  }

  function signed(): number {
    const value = unsigned()
    return value % 2 === 0 ? -value / 2 : (value + 1) / 2
  }

  return {
    bits,
    flag: () => bits(1) === 1,
    unsigned,
    signed,
    position: () => position,
    isExhausted: () => position > total,
  }
}
