// EBML (RFC 8794): element headers, numbers, and the children of an element in memory.

export interface ElementHeader {
  id: number
  headerBytes: number
  /** Size of the content; -1 if unknown (RFC 8794 6.2). */
  sizeBytes: number
}

/** An element in memory. */
export interface Element {
  id: number
  content: Uint8Array
}

export const UNKNOWN_SIZE = -1
/** Maximum lengths of ID and size (RFC 8794 5 and 6, as limited by Matroska). */
export const MAX_HEADER_BYTES = 12

/** The header at `at`. `short`: the bytes end inside it; `invalid`: there is no valid header. */
export function parseHeader(bytes: Uint8Array, at: number): ElementHeader | 'short' | 'invalid' {
  const first = bytes[at]
  if (first === undefined) return 'short'
  if (first < 0x10) return 'invalid'
  const idBytes = Math.clz32(first) - 23
  const sizeFirst = bytes[at + idBytes]
  if (sizeFirst === undefined) return 'short'
  if (sizeFirst === 0) return 'invalid'
  const headerBytes = idBytes + Math.clz32(sizeFirst) - 23
  if (at + headerBytes > bytes.length) return 'short'
  let id = 0
  for (let i = at; i < at + idBytes; i += 1) id = id * 256 + (bytes[i] ?? 0)
  return { id, headerBytes, sizeBytes: parseSize(bytes, at + idBytes, at + headerBytes) }
}

function parseSize(bytes: Uint8Array, from: number, to: number): number {
  const mask = 0xff >> (to - from)
  const first = (bytes[from] ?? 0) & mask
  let value = first
  let areOnes = first === mask
  for (let i = from + 1; i < to; i += 1) {
    const byte = bytes[i] ?? 0
    value = value * 256 + byte
    areOnes &&= byte === 0xff
  }
  return areOnes ? UNKNOWN_SIZE : value
}

/** A variable-size number (RFC 8794 4). */
export interface VariableNumber {
  value: number
  length: number
}

/** The number at `at` without its length marker; undefined if the bytes end inside it. */
export function parseVariable(bytes: Uint8Array, at: number): VariableNumber | undefined {
  const first = bytes[at]
  if (first === undefined || first === 0) return undefined
  const length = Math.clz32(first) - 23
  if (at + length > bytes.length) return undefined
  let value = first & (0xff >> length)
  for (let i = at + 1; i < at + length; i += 1) value = value * 256 + (bytes[i] ?? 0)
  return { value, length }
}

/**
 * The children of an element, in order. A corrupt child, or one that exceeds the end, ends the
 * list.
 */
export function* parseChildren(content: Uint8Array): Generator<Element> {
  let at = 0
  while (at < content.length) {
    const header = parseHeader(content, at)
    if (header === 'short' || header === 'invalid' || header.sizeBytes < 0) return
    const start = at + header.headerBytes
    const end = start + header.sizeBytes
    if (end > content.length) return
    yield { id: header.id, content: content.subarray(start, end) }
    at = end
  }
}

/** An unsigned integer (RFC 8794 7.2); 0 if it has more than eight bytes. */
export function parseUnsigned(content: Uint8Array): number {
  return content.length > 8 ? 0 : content.reduce((value, byte) => value * 256 + byte, 0)
}

/** A float of four or eight bytes (RFC 8794 7.3); 0 for any other size. */
export function parseFloat64(content: Uint8Array): number {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
  if (content.length === 4) return view.getFloat32(0)
  return content.length === 8 ? view.getFloat64(0) : 0
}

/** A zero-terminated string (RFC 8794 7.4, 7.5). */
export function parseText(content: Uint8Array): string {
  const end = content.indexOf(0)
  return Buffer.from(end < 0 ? content : content.subarray(0, end)).toString('utf8')
}
