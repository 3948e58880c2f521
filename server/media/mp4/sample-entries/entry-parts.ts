// Taking a sample entry box apart and putting it together again, clean: what both pictures and sound need.
import { type Box, brokenBox, parseBoxes } from '../boxes/box.ts'

/** A sample entry as found, or why nothing plays it. */
export type Description<Playable> =
  | ({ status: 'playable' } & Playable)
  | { status: 'unplayable'; reason: string; isStillImage: boolean }

/** A sample entry box, read whole. */
export interface RawEntry {
  box: Box
  /** The box from its header on. */
  bytes: DataView
  /** Version of the stsd box: tells QuickTime's version 1 sound entries from ISO's. */
  stsdVersion: number
}

/** Fields of a sample entry up to its boxes, and the boxes. */
export interface EntryParts {
  /** Content in front of the boxes; a view into the entry. */
  fields: DataView
  boxes: Box[]
}

/** Splits an entry whose fields are `fieldBytes` long behind the header. Trailing bytes that are no box are left out. */
export function splitEntry({ box, bytes }: RawEntry, fieldBytes: number): EntryParts {
  const headerBytes = box.contentStart - box.start
  if (bytes.byteLength < headerBytes + fieldBytes) {
    throw brokenBox(box.type, box.start, 'is too small')
  }
  const inside = subview(bytes, headerBytes + fieldBytes, bytes.byteLength)
  return {
    fields: subview(bytes, headerBytes, headerBytes + fieldBytes),
    boxes: parseBoxes(inside, box.contentStart + fieldBytes),
  }
}

/** The content of a box inside an entry. */
export function entryContent(entry: RawEntry, box: Box): DataView {
  return subview(entry.bytes, box.contentStart - entry.box.start, box.end - entry.box.start)
}

/** A whole box inside an entry, header included, as bytes of its own. */
export function wholeBox(entry: RawEntry, box: Box): Uint8Array<ArrayBuffer> {
  return copyBytes(subview(entry.bytes, box.start - entry.box.start, box.end - entry.box.start))
}

/** A sample entry box of its own: data reference 1, and nothing behind the last box (QuickTime's four zero bytes stop Chromium's parser). */
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

/** The bytes of a view, copied. */
export function copyBytes(view: DataView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice()
}

/** Position of data_reference_index in every sample entry (8.5.2.2). */
const DATA_REFERENCE_AT = 6

function subview(view: DataView, from: number, to: number): DataView {
  return new DataView(view.buffer, view.byteOffset + from, to - from)
}
