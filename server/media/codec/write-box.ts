// Writes ISO base media boxes (ISO/IEC 14496-12 4.2) as nested plain values.

/** Bytes inside a box: raw bytes or further boxes. */
export type BoxContent = Uint8Array | readonly Uint8Array[]

const BOX_HEADER_BYTES = 8

/** A box with a four-character type. */
export function box(type: string, ...contents: BoxContent[]): Uint8Array {
  const chunks = contents.flat()
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, BOX_HEADER_BYTES)
  const bytes = Buffer.alloc(sizeBytes)
  bytes.writeUInt32BE(sizeBytes, 0)
  bytes.write(type, 4, 'latin1')
  let at = BOX_HEADER_BYTES
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** A full box: version and flags before its contents (ISO/IEC 14496-12 4.2.2). */
export function fullBox(
  type: string,
  { version = 0, flags = 0 }: { version?: number; flags?: number },
  ...contents: BoxContent[]
): Uint8Array {
  return box(type, uint32(version * 0x1000000 + flags), ...contents)
}

/** Unsigned 32-bit big-endian values. */
export function uint32(...values: number[]): Uint8Array {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, i) => bytes.writeUInt32BE(value, i * 4))
  return bytes
}

/** Signed 32-bit big-endian values. */
export function int32(values: Iterable<number>): Uint8Array {
  const all = [...values]
  const bytes = Buffer.alloc(all.length * 4)
  all.forEach((value, i) => bytes.writeInt32BE(value, i * 4))
  return bytes
}

/** Unsigned 16-bit big-endian values. */
export function uint16(...values: number[]): Uint8Array {
  const bytes = Buffer.alloc(values.length * 2)
  values.forEach((value, i) => bytes.writeUInt16BE(value, i * 2))
  return bytes
}

/** A string in latin1, without a terminator. */
export function ascii(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}

/** This many zero bytes. */
export function zeros(count: number): Uint8Array {
  return Buffer.alloc(count)
}
