// Splits a sample entry box into fields and child boxes, and writes a sanitised one.
import { type Box, parseBoxes, invalidBox } from '../boxes/box.ts'
import type { UnplayableReason } from '../../../base/problem.ts'

/** A parsed sample entry, or why it is unplayable. */
export type Description<Playable> =
  | ({ status: 'playable' } & Playable)
  | { status: 'unplayable'; reason: UnplayableReason; isStillImage: boolean }

/** The bytes of a sample entry box. */
export interface RawEntry {
  box: Box
  /** The box including its header. */
  bytes: DataView
  /**
   * Version of the stsd box, which distinguishes ISO's version 1 audio entries from QuickTime's.
   */
  stsdVersion: number
}

export interface EntryParts {
  /** The bytes before the child boxes; a view into the entry. */
  fields: DataView
  boxes: Box[]
}

/**
 * Splits an entry with `fieldBytes` of fields after the header. Trailing bytes that are not a box
 * are dropped.
 */
export function splitEntry({ box, bytes }: RawEntry, fieldBytes: number): EntryParts {
  const headerBytes = box.contentStart - box.start
  if (bytes.byteLength < headerBytes + fieldBytes) {
    throw invalidBox(box, 'too-small')
  }
  const inside = subview(bytes, headerBytes + fieldBytes, bytes.byteLength)
  return {
    fields: subview(bytes, headerBytes, headerBytes + fieldBytes),
    boxes: parseBoxes(inside, box.contentStart + fieldBytes),
  }
}

/** The content of a box in an entry. */
export function entryContent(entry: RawEntry, box: Box): DataView {
  return subview(entry.bytes, box.contentStart - entry.box.start, box.end - entry.box.start)
}

/** A copy of a box in an entry, including its header. */
export function wholeBox(entry: RawEntry, box: Box): Uint8Array<ArrayBuffer> {
  return copyBytes(subview(entry.bytes, box.start - entry.box.start, box.end - entry.box.start))
}

/**
 * Writes a sample entry box with data reference 1 and no terminator after its last box (QuickTime's
 * four zero bytes break Chromium's parser).
 */
export function joinEntry(
  type: string,
  fields: DataView,
  boxes: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const size = boxes.reduce((sum, box) => sum + box.length, 8 + fields.byteLength)
  const entry = new Uint8Array(size)
  const view = new DataView(entry.buffer)
  view.setUint32(0, size)
  entry.set(Buffer.from(type, 'latin1'), 4)
  entry.set(copyBytes(fields), 8)
  view.setUint16(8 + DATA_REFERENCE_AT, 1)
  let position = 8 + fields.byteLength
  for (const box of boxes) {
    entry.set(box, position)
    position += box.length
  }
  return entry
}

export function copyBytes(view: DataView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice()
}

/** Position of data_reference_index in every sample entry (8.5.2.2). */
const DATA_REFERENCE_AT = 6

function subview(view: DataView, from: number, to: number): DataView {
  return new DataView(view.buffer, view.byteOffset + from, to - from)
}
