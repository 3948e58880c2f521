// Ranges of files, packed into a few buffers: they go from thread to thread without a copy, and
// their memory is known.
import { createHash } from 'node:crypto'
import { AppError } from '../../base/errors.ts'
import type { FileStat } from './storage.ts'

/** A range of a file in storage. A plain value. */
export interface FileRange {
  path: string
  /** Of the file when the range was created; a changed file is rejected. */
  stat: FileStat
  /** Position of the first byte in the file. */
  offset: number
  /** Number of bytes of the range: after decryption and without padding, if encrypted. */
  length: number
  /** AES-128-CBC from the first byte of the range. */
  decryption?: { key: Uint8Array; iv: Uint8Array }
}

/** Ranges that are read as one file: a part of a table. A plain value. */
export interface RangeList {
  table: RangeTable
  /** Index of the first range in the table. */
  first: number
  count: number
  /** Size is the sum, modification time the newest; the version covers all ranges. */
  stat: FileStat
}

/** Ranges of several lists. All buffers can be transferred. */
export interface RangeTable {
  /** Start of all paths. */
  folder: string
  /** The ranges as JSON, one after another. */
  text: Uint8Array<ArrayBuffer>
  /** End of each range in `text`. */
  ends: Uint32Array<ArrayBuffer>
  /** Position of each range's first byte in its list. */
  starts: Float64Array<ArrayBuffer>
}

/** A range in the table; key and IV are in hexadecimal digits. */
type StoredRange = [path: string, stat: FileStat, offset: number, length: number, ...string[]]

/**
 * Packs lists of ranges into one table.
 *
 * @param folder start of all paths
 */
export function packRanges(lists: readonly (readonly FileRange[])[], folder = ''): RangeList[] {
  const total = lists.reduce((sum, { length }) => sum + length, 0)
  const ends = new Uint32Array(total)
  const starts = new Float64Array(total)
  const texts: Buffer[] = []
  const packed: Omit<RangeList, 'table'>[] = []
  let at = 0
  let textBytes = 0
  for (const ranges of lists) {
    let sizeBytes = 0
    let modifiedMs = 0
    const first = at
    const versions = createHash('sha256')
    for (const range of ranges) {
      const text = Buffer.from(JSON.stringify(storedRange(range, folder)))
      texts.push(text)
      versions.update(text)
      textBytes += text.length
      ends[at] = textBytes
      starts[at] = sizeBytes
      sizeBytes += range.length
      modifiedMs = Math.max(modifiedMs, range.stat.modifiedMs)
      at += 1
    }
    const version = versions.digest('base64url')
    packed.push({ first, count: ranges.length, stat: { sizeBytes, modifiedMs, version } })
  }
  const text = new Uint8Array(textBytes)
  let end = 0
  for (const each of texts) {
    text.set(each, end)
    end += each.length
  }
  const table = { folder, text, ends, starts }
  return packed.map((list) => ({ ...list, table }))
}

/** The range at an index of the list; undefined after its end. */
export function rangeAt({ table, first, count }: RangeList, index: number): FileRange | undefined {
  if (index < 0 || index >= count) return undefined
  const { folder, text, ends } = table
  const at = first + index
  const bytes = text.subarray(at === 0 ? 0 : ends[at - 1], ends[at])
  const stored: StoredRange = JSON.parse(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(),
  )
  const [path, stat, offset, length, key, iv] = stored
  const range = { path: folder + path, stat, offset, length }
  if (key === undefined || iv === undefined) return range
  return { ...range, decryption: { key: Buffer.from(key, 'hex'), iv: Buffer.from(iv, 'hex') } }
}

/** The same list in a table of its own, without the ranges of other lists. */
export function separateRanges({ table, first, count, stat }: RangeList): RangeList {
  const { folder } = table
  const end = first + count
  const textStart = first === 0 ? 0 : (table.ends[first - 1] ?? 0)
  const text = table.text.slice(textStart, table.ends[end - 1])
  const ends = table.ends.slice(first, end).map((at) => at - textStart)
  const starts = table.starts.slice(first, end)
  return { table: { folder, text, ends, starts }, first: 0, count, stat }
}

/** The buffers of a table, which can be transferred to another thread. */
export function tableBuffers({ text, ends, starts }: RangeTable): ArrayBuffer[] {
  return [text.buffer, ends.buffer, starts.buffer]
}

/** Position of the range's first byte. */
export function startOf({ table, first }: RangeList, index: number): number {
  return table.starts[first + index] ?? 0
}

/** Memory of the table. */
export function tableBytes({ text, ends, starts }: RangeTable): number {
  return text.byteLength + ends.byteLength + starts.byteLength
}

function storedRange(range: FileRange, folder: string): StoredRange {
  const { path, stat, offset, length, decryption } = range
  if (!path.startsWith(folder)) throw new AppError('failed', 'a range is in another folder')
  const stored: StoredRange = [path.slice(folder.length), stat, offset, length]
  if (decryption === undefined) return stored
  return [...stored, hex(decryption.key), hex(decryption.iv)]
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
