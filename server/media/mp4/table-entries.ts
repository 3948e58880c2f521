// Reads a stretch of a table at once, for one segment: as 32-bit words, whatever the entries' width in the file.
import type { OpenFile } from '../../storage/storage.ts'
import { readExactly } from './file-window.ts'
import { MAX_SLICE_BYTES } from './mp4-limits.ts'
import { type Table, tableBytes } from './sample-tables.ts'

/** Entries of a table, from (included) to (excluded), counted from 0. */
export interface EntryRange {
  from: number
  to: number
}

/**
 * The entries as words: one for entries of up to 32 bits, two for 64, three for 96. What lies behind the table's end is left out.
 * The caller bounds the range; the file is read in slices.
 */
export async function readEntries(
  file: OpenFile,
  table: Table,
  { from, to }: EntryRange,
): Promise<Uint32Array> {
  const end = Math.min(to, table.count)
  if (end <= from) return new Uint32Array()
  const wordsEach = Math.ceil(table.entryBits / 32)
  const words = new Uint32Array((end - from) * wordsEach)
  const most = Math.floor((MAX_SLICE_BYTES * 8) / table.entryBits)
  for (let index = from; index < end; index += most) {
    const slice = { from: index, to: Math.min(index + most, end) }
    const bytes = await readSlice(file, table, slice)
    unpack(bytes, table.entryBits, {
      words: words.subarray((index - from) * wordsEach, (slice.to - from) * wordsEach),
      skipHalf: table.entryBits === 4 && index % 2 === 1,
    })
  }
  return words
}

async function readSlice(file: OpenFile, table: Table, range: EntryRange): Promise<DataView> {
  const { start, length } = tableBytes(table, range.from, range.to)
  const bytes =
    table.inline?.subarray(start, start + length) ??
    (await readExactly(file, table.offset + start, length))
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** `skipHalf`: the first entry is the lower half of its byte (stz2 with 4 bits, 8.7.3.3: the upper half comes first). */
function unpack(
  bytes: DataView,
  entryBits: Table['entryBits'],
  { words, skipHalf }: { words: Uint32Array; skipHalf: boolean },
): void {
  const odd = skipHalf ? 1 : 0
  for (let at = 0; at < words.length; at += 1) {
    if (entryBits === 4) {
      const byte = bytes.getUint8((at + odd) >> 1)
      words[at] = (at + odd) % 2 === 0 ? byte >> 4 : byte & 15
    } else if (entryBits === 8) words[at] = bytes.getUint8(at)
    else if (entryBits === 16) words[at] = bytes.getUint16(at * 2)
    else words[at] = bytes.getUint32(at * 4)
  }
}
