// Stacks two videos without re-encoding: H.264 slices are independent, so a coded frame can consist
// of the slices of two encoders if their headers agree (ISO/IEC 14496-10 7.3.3). Supports only what
// our own encoder writes.
import { createBitReader } from '../media/codec/bit-reader.ts'
import type { BitReader } from '../media/codec/bit-reader.ts'
import { unescapeNal } from '../media/codec/nal-unit.ts'
import { BitWriter, escapePayload } from './bits.ts'

/** Fields of the sequence parameter set that slice headers depend on. */
export interface SliceFormat {
  frameNumberBits: number
  orderCountBits: number
}

/** A parsed slice: the used fields of its header, and the position of its macroblocks. */
export interface Slice {
  header: number
  payload: Uint8Array
  isIdr: boolean
  isReference: boolean
  /** Slice type: 5 = P, 6 = B, 7 = I, for all slices of the frame. */
  type: number
  frameNumber: number
  idrPictureId: number
  orderCount: number
  qpDelta: number
  /** First bit of the deblocking fields, which precede the macroblocks. */
  deblockingBit: number
  dataBit: number
  /** Position of the stop bit. */
  endBit: number
}

const TYPE_P = 5
const TYPE_B = 6
/** No filtering across the border of two slices (7.4.3). */
const DEBLOCK_WITHIN_SLICE = 2
const MAX_HEADER_BYTES = 32

/** Parses the needed fields of an SPS of the Main profile with frames only. */
export function parseSliceFormat(sps: Uint8Array): SliceFormat {
  const reader = createBitReader(unescapeNal(sps.subarray(1)))
  const profile = reader.bits(8)
  reader.bits(16)
  reader.unsigned()
  const frameNumberBits = reader.unsigned() + 4
  const orderCountType = reader.unsigned()
  if (profile !== 77 || orderCountType !== 0) throw new Error('unexpected sequence parameters')
  return { frameNumberBits, orderCountBits: reader.unsigned() + 4 }
}

/** Parses a coded slice (NAL unit type 1 or 5). */
export function parseSlice(nal: Uint8Array, format: SliceFormat): Slice {
  const header = nal[0] ?? 0
  const payload = unescapeNal(nal.subarray(1))
  const isIdr = (header & 31) === 5
  const isReference = header >> 5 !== 0
  const reader = createBitReader(payload)
  reader.unsigned()
  const type = reader.unsigned()
  reader.unsigned()
  const frameNumber = reader.bits(format.frameNumberBits)
  const idrPictureId = isIdr ? reader.unsigned() : 0
  const orderCount = reader.bits(format.orderCountBits)
  skipReferenceLists(reader, type)
  if (isReference) skipMarking(reader, isIdr)
  const qpDelta = reader.signed()
  const deblockingBit = reader.position()
  if (reader.unsigned() !== 1) {
    reader.signed()
    reader.signed()
  }
  return {
    header,
    payload,
    isIdr,
    isReference,
    type,
    frameNumber,
    idrPictureId,
    orderCount,
    qpDelta,
    deblockingBit,
    dataBit: reader.position(),
    endBit: stopBit(payload),
  }
}

function skipReferenceLists(reader: BitReader, type: number): void {
  if (type !== TYPE_P && type !== TYPE_B) return
  const lists = type === TYPE_B ? 2 : 1
  if (type === TYPE_B) reader.bits(1)
  if (reader.bits(1) === 1) for (let list = 0; list < lists; list++) reader.unsigned()
  for (let list = 0; list < lists; list++) {
    if (reader.bits(1) === 1) while (reader.unsigned() !== 3) reader.unsigned()
  }
}

function skipMarking(reader: BitReader, isIdr: boolean): void {
  if (isIdr) reader.bits(2)
  else if (reader.bits(1) === 1) throw new Error('unexpected reference marking')
}

function stopBit(payload: Uint8Array): number {
  const last = payload.length - 1
  const byte = payload[last] ?? 0
  return last * 8 + 7 - Math.log2(byte & -byte)
}

/** The slice as the top of a larger frame: no deblocking across its lower edge. */
export function topSlice(slice: Slice): Uint8Array {
  const writer = new BitWriter(slice.payload.length + MAX_HEADER_BYTES)
  writer.copy(slice.payload, 0, slice.deblockingBit)
  const reader = createBitReader(slice.payload)
  reader.bits(slice.deblockingBit)
  if (reader.unsigned() === 1) return escapePayload(slice.header, slice.payload)
  writer.unsigned(DEBLOCK_WITHIN_SLICE)
  writer.copy(slice.payload, reader.position(), slice.endBit)
  return escapePayload(slice.header, writer.finish())
}

/** Position and size of the lower slice in macroblocks, and its header's format. */
export interface LowerSlicePosition {
  firstMacroblock: number
  macroblocks: number
  format: SliceFormat
}

/** The lower part of the frame with `top` as its upper part: the coded content of `slice`. */
export function lowerSlice(top: Slice, slice: Slice, place: LowerSlicePosition): Uint8Array {
  const writer = new BitWriter(slice.payload.length + MAX_HEADER_BYTES)
  writeLowerHeader(writer, top, { ...place, qpDelta: slice.qpDelta })
  writer.copy(slice.payload, slice.dataBit, slice.endBit)
  return escapePayload(top.header, writer.finish())
}

/** The lower part of an unchanged P or B picture: every macroblock is skipped (7.3.4). */
export function skippedLowerSlice(top: Slice, place: LowerSlicePosition): Uint8Array {
  const writer = new BitWriter(MAX_HEADER_BYTES)
  writeLowerHeader(writer, top, { ...place, qpDelta: 0 })
  writer.unsigned(place.macroblocks)
  return escapePayload(top.header, writer.finish())
}

function writeLowerHeader(
  writer: BitWriter,
  top: Slice,
  place: LowerSlicePosition & { qpDelta: number },
): void {
  writer.unsigned(place.firstMacroblock)
  writer.unsigned(top.type)
  writer.unsigned(0)
  writer.bits(top.frameNumber, place.format.frameNumberBits)
  if (top.isIdr) writer.unsigned(top.idrPictureId)
  writer.bits(top.orderCount, place.format.orderCountBits)
  // Spatial direct prediction; no override of the number of references and no reordering, per list.
  if (top.type === TYPE_B) writer.bits(1, 1)
  if (top.type === TYPE_P) writer.bits(0, 2)
  if (top.type === TYPE_B) writer.bits(0, 3)
  if (top.isReference) writer.bits(0, top.isIdr ? 2 : 1)
  writer.signed(place.qpDelta)
  writer.unsigned(DEBLOCK_WITHIN_SLICE)
  writer.signed(0)
  writer.signed(0)
}
