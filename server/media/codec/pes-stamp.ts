// Time stamps of PES packets (ISO/IEC 13818-1 2.4.3.7).

/** 33 bits in five bytes; undefined without a marker bit, which means that they are corrupt. */
export function parseStamp(bytes: Uint8Array, at: number): number | undefined {
  const high = bytes[at] ?? 0
  const middle = bytes[at + 2] ?? 0
  const low = bytes[at + 4] ?? 0
  if ((high & middle & low & 1) === 0) return undefined
  const bits =
    ((bytes[at + 1] ?? 0) << 22) +
    ((middle >>> 1) << 15) +
    ((bytes[at + 3] ?? 0) << 7) +
    (low >>> 1)
  return ((high >>> 1) & 7) * 2 ** 30 + bits
}
