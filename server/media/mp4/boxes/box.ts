// Headers of boxes (ISO/IEC 14496-12 4.2): where a box begins, what it is called, where it ends.
import { AppError } from '../../../errors.ts'

/** Where a box lies in the file; all positions are bytes from the file's start. */
export interface Box {
  /** Four characters, e.g. `moov`. */
  type: string
  start: number
  /** First byte behind the header. */
  contentStart: number
  /** First byte behind the box. */
  end: number
}

/** Where a header is read: `bytes` hold the file from `start` on; the box must lie before `parentEnd`. */
export interface BoxPlace {
  bytes: DataView
  start: number
  parentEnd: number
}

/** A header without the 64-bit size, and the longest that is read here. */
export const SHORT_HEADER_BYTES = 8
export const LONG_HEADER_BYTES = 16

/**
 * Parses the header at the start of `bytes` (at least 8 bytes, 16 where the size is 64-bit). A size of 0 means the
 * rest of the parent. `end` may lie behind `parentEnd`: the caller decides what that means.
 * Throws `unplayable` where the size is smaller than the header, or larger than 2^53.
 */
export function parseBox({ bytes, start, parentEnd }: BoxPlace): Box {
  const type = boxType(bytes, 4)
  const size32 = bytes.getUint32(0)
  if (size32 === 0) return { type, start, contentStart: start + SHORT_HEADER_BYTES, end: parentEnd }
  const isLong = size32 === 1
  if (isLong && bytes.byteLength < LONG_HEADER_BYTES) throw brokenBox(type, start, 'is cut off')
  const size = isLong ? uint64(bytes, 8) : size32
  const headerBytes = isLong ? LONG_HEADER_BYTES : SHORT_HEADER_BYTES
  if (!(size >= headerBytes)) throw brokenBox(type, start, 'is smaller than its own header')
  if (!Number.isSafeInteger(start + size)) throw brokenBox(type, start, 'has an impossible size')
  return { type, start, contentStart: start + headerBytes, end: start + size }
}

/** The boxes inside `bytes`, which hold the file from `start` on. Fewer than 8 bytes, or a size of 0 (as QuickTime ends a list), end it. */
export function parseBoxes(bytes: DataView, start: number): Box[] {
  const boxes: Box[] = []
  const parentEnd = start + bytes.byteLength
  let position = 0
  while (bytes.byteLength - position >= SHORT_HEADER_BYTES && bytes.getUint32(position) !== 0) {
    const rest = new DataView(
      bytes.buffer,
      bytes.byteOffset + position,
      bytes.byteLength - position,
    )
    const box = parseBox({ bytes: rest, start: start + position, parentEnd })
    if (box.end > parentEnd) throw brokenBox(box.type, box.start, 'reaches past its parent')
    boxes.push(box)
    position = box.end - start
  }
  return boxes
}

/** Four characters at `position`; what cannot be printed becomes `?`. */
export function boxType(bytes: DataView, position: number): string {
  const codes = [0, 1, 2, 3].map((index) => bytes.getUint8(position + index))
  return codes
    .map((code) => (code < 0x20 || code > 0x7e ? '?' : String.fromCharCode(code)))
    .join('')
}

/** An unsigned 64-bit number; NaN above 2^53, where doubles are no longer exact. */
export function uint64(bytes: DataView, position: number): number {
  const value = bytes.getUint32(position) * 2 ** 32 + bytes.getUint32(position + 4)
  return Number.isSafeInteger(value) ? value : NaN
}

/** A signed 64-bit number; NaN beyond 2^53 in size. */
export function int64(bytes: DataView, position: number): number {
  const value = bytes.getInt32(position) * 2 ** 32 + bytes.getUint32(position + 4)
  return Number.isSafeInteger(value) ? value : NaN
}

/** The failure for a box that contradicts itself or its place. */
export function brokenBox(type: string, start: number, what: string): AppError {
  const message = `the file is damaged: box '${type}' at byte ${start} ${what}`
  return new AppError('unplayable', message, { details: { offsetBytes: start } })
}
