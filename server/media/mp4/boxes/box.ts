// Box headers (ISO/IEC 14496-12 4.2).
import { UnplayableError } from '../../../base/errors.ts'
import type { BoxDefect } from '../../../base/problem.ts'

/** Type and extent of a box; positions are bytes from the start of the file. */
export interface Box {
  /** Four characters, e.g. `moov`. */
  type: string
  start: number
  /** First byte after the header. */
  contentStart: number
  /** First byte after the box. */
  end: number
}

/** Input of `parseBox`: `bytes` start at file position `start`; the parent ends at `parentEnd`. */
export interface BoxContext {
  bytes: DataView
  start: number
  parentEnd: number
}

/** Header sizes without and with the 64-bit size field. */
export const SHORT_HEADER_BYTES = 8
export const LONG_HEADER_BYTES = 16

/**
 * Parses the header at the start of `bytes` (at least 8 bytes, 16 for a 64-bit size). A size of 0
 * means the rest of the parent. `end` may exceed `parentEnd`: the caller decides what follows.
 * Throws `unplayable` for a size smaller than the header or above 2^53.
 */
export function parseBox({ bytes, start, parentEnd }: BoxContext): Box {
  const type = boxType(bytes, 4)
  const size32 = bytes.getUint32(0)
  if (size32 === 0) return { type, start, contentStart: start + SHORT_HEADER_BYTES, end: parentEnd }
  const isLong = size32 === 1
  if (isLong && bytes.byteLength < LONG_HEADER_BYTES) throw invalidBox({ type, start }, 'truncated')
  const size = isLong ? uint64(bytes, 8) : size32
  const headerBytes = isLong ? LONG_HEADER_BYTES : SHORT_HEADER_BYTES
  if (!(size >= headerBytes)) throw invalidBox({ type, start }, 'smaller-than-header')
  if (!Number.isSafeInteger(start + size)) throw invalidBox({ type, start }, 'size-invalid')
  return { type, start, contentStart: start + headerBytes, end: start + size }
}

/**
 * The boxes in `bytes`, which start at file position `start`. The list ends at fewer than 8 bytes
 * or at a size of 0, QuickTime's terminator.
 */
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
    if (box.end > parentEnd) throw invalidBox(box, 'exceeds-parent')
    boxes.push(box)
    position = box.end - start
  }
  return boxes
}

/** Four characters at `position`, with `?` for non-printable ones. */
export function boxType(bytes: DataView, position: number): string {
  const codes = [0, 1, 2, 3].map((index) => bytes.getUint8(position + index))
  return codes
    .map((code) => (code < 0x20 || code > 0x7e ? '?' : String.fromCharCode(code)))
    .join('')
}

/** An unsigned 64-bit number; NaN above 2^53, beyond which doubles are inexact. */
export function uint64(bytes: DataView, position: number): number {
  const value = bytes.getUint32(position) * 2 ** 32 + bytes.getUint32(position + 4)
  return Number.isSafeInteger(value) ? value : NaN
}

/** A signed 64-bit number; NaN if its magnitude exceeds 2^53. */
export function int64(bytes: DataView, position: number): number {
  const value = bytes.getInt32(position) * 2 ** 32 + bytes.getUint32(position + 4)
  return Number.isSafeInteger(value) ? value : NaN
}

/** The error for a box that contradicts itself or its parent; `value` is the invalid number. */
export function invalidBox(
  { type, start }: Pick<Box, 'type' | 'start'>,
  defect: BoxDefect,
  value?: number,
): UnplayableError {
  return new UnplayableError({
    code: 'box-invalid',
    box: type,
    offsetBytes: start,
    defect,
    ...(value !== undefined && { value }),
  })
}

/** The error for a box without a required child. */
export function missingBox(
  box: string,
  { type, start }: Pick<Box, 'type' | 'start'>,
): UnplayableError {
  return new UnplayableError({ code: 'box-missing', box, parent: type, offsetBytes: start })
}
