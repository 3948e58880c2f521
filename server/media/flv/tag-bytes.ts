// Numbers in the bytes of a tag, most significant byte first; missing bytes read as 0.

export function uint24(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
}

/** SI24: two's complement. */
export function int24(bytes: Uint8Array, at: number): number {
  return (uint24(bytes, at) << 8) >> 8
}

export function uint32(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) * 0x1000000 + uint24(bytes, at + 1)
}

export function fourCc(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.subarray(at, at + 4)).toString('latin1')
}
