// Reads a range of table entries as 32-bit words, whatever their width in the file.
import { endianness } from 'node:os'
import { readExactly } from '../../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { MAX_SLICE_BYTES } from '../mp4-limits.ts'
import { type Table, tableBytes } from './sample-tables.ts'

/** Table entries `from` (inclusive) to `to` (exclusive), counted from 0. */
export interface EntryRange {
  from: number
  to: number
}

/**
 * The entries as words: one for up to 32 bits, two for 64, three for 96. Entries after the end of
 * the table are omitted. The caller bounds the range; the file is read in slices.
 */
export async function readEntries(
  file: OpenFile,
  table: Table,
  { from, to }: EntryRange,
): Promise<Uint32Array> {
  const end = Math.min(to, table.count)
  if (end <= from) return new Uint32Array()
  const most = Math.floor((MAX_SLICE_BYTES * 8) / table.entryBits)
  if (end - from <= most) {
    const range = { from, to: end }
    return unpack(await readBytes(file, table, range), table, range)
  }
  const wordsEach = Math.ceil(table.entryBits / 32)
  const words = new Uint32Array((end - from) * wordsEach)
  for (let index = from; index < end; index += most) {
    const range = { from: index, to: Math.min(index + most, end) }
    const bytes = await readBytes(file, table, range)
    words.set(unpack(bytes, table, range), (index - from) * wordsEach)
  }
  return words
}

/** Always a copy: `unpack` works in place. */
async function readBytes(
  file: OpenFile,
  table: Table,
  range: EntryRange,
): Promise<Uint8Array<ArrayBuffer>> {
  const { start, length } = tableBytes(table, range.from, range.to)
  if (table.inline !== undefined)
    return Uint8Array.from(table.inline.subarray(start, start + length))
  return readExactly(file, table.offset + start, length)
}

/**
 * 4-bit entries (stz2, 8.7.3.3) start with the high nibble, so an odd first entry is the low nibble
 * of its byte.
 */
function unpack(
  bytes: Uint8Array<ArrayBuffer>,
  { entryBits }: Table,
  { from, to }: EntryRange,
): Uint32Array {
  if (entryBits >= 32) {
    if (endianness() === 'LE') Buffer.from(bytes.buffer).swap32()
    return new Uint32Array(bytes.buffer)
  }
  if (entryBits === 8) return Uint32Array.from(bytes)
  if (entryBits === 16) {
    if (endianness() === 'LE') Buffer.from(bytes.buffer).swap16()
    return Uint32Array.from(new Uint16Array(bytes.buffer))
  }
  const odd = from % 2
  return Uint32Array.from({ length: to - from }, (_, at) => {
    const byte = bytes[(at + odd) >> 1] ?? 0
    return (at + odd) % 2 === 0 ? byte >> 4 : byte & 15
  })
}
