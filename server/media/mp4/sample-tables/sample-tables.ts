// Locates the sample tables of a track (ISO/IEC 14496-12 8.6, 8.7), and checks that they fit into
// their boxes.
import { type Box, invalidBox, missingBox } from '../boxes/box.ts'
import type { FileWindow } from '../boxes/file-window.ts'
import { MAX_INLINE_TABLE_BYTES, MAX_SAMPLES } from '../mp4-limits.ts'

/** A table of fixed-size entries, completely inside its box and the file. */
export interface Table {
  /** Position of the first entry in the file. */
  offset: number
  count: number
  entryBits: 4 | 8 | 16 | 32 | 64 | 96
  /** All bytes of a small table. */
  inline?: Uint8Array
}

export interface SampleTables {
  sampleCount: number
  sizes: { kind: 'constant'; sizeBytes: number } | { kind: 'table'; table: Table }
  /** stts: (count, ticks to the next sample). */
  durations: Table
  /** ctts: (count, signed composition offset); absent if all are 0. */
  compositionOffsets?: Table
  /** stsc: (first chunk, samples per chunk, description), from 1. */
  chunkRuns: Table
  /** stco or co64: position of each chunk. */
  chunks: Table
  /** stss: numbers of the key frames, from 1; absent if every sample is one. */
  syncs?: Table
}

/**
 * Locates the tables in a track's `stbl`. Throws `unplayable` if one is missing or larger than its
 * box.
 */
export async function locateSampleTables(
  window: FileWindow,
  stbl: Box,
  boxes: readonly Box[],
): Promise<SampleTables> {
  const find = (...types: string[]) => boxes.find((box) => types.includes(box.type))
  const need = (type: string, ...others: string[]) => {
    const box = find(type, ...others)
    if (box === undefined) throw missingBox(type, stbl)
    return box
  }
  const { sizes, sampleCount } = await locateSizes(window, need('stsz', 'stz2'))
  const chunkBox = need('stco', 'co64')
  const ctts = find('ctts')
  const stss = find('stss')
  return {
    sampleCount,
    sizes,
    durations: await locateTable(window, need('stts'), 64),
    chunkRuns: await locateTable(window, need('stsc'), 96),
    chunks: await locateTable(window, chunkBox, chunkBox.type === 'co64' ? 64 : 32),
    ...(ctts && { compositionOffsets: await locateTable(window, ctts, 64) }),
    ...(stss && { syncs: await locateTable(window, stss, 32) }),
  }
}

/** Byte range of a range of entries, rounded up to whole bytes. */
export function tableBytes(
  table: Table,
  from: number,
  to: number,
): { start: number; length: number } {
  const start = Math.floor((from * table.entryBits) / 8)
  return { start, length: Math.ceil((to * table.entryBits) / 8) - start }
}

/** A full box with an entry count before its entries. */
async function locateTable(
  window: FileWindow,
  box: Box,
  entryBits: Table['entryBits'],
): Promise<Table> {
  const header = await fullBoxHeader(window, box, 8)
  const table = { offset: box.contentStart + 8, count: header.getUint32(4), entryBits }
  return withInline(window, box, table)
}

/**
 * stsz (8.7.3.2) with a constant size or a table of 32-bit sizes; stz2 (8.7.3.3) with 4, 8 or 16
 * bits.
 */
async function locateSizes(
  window: FileWindow,
  box: Box,
): Promise<Pick<SampleTables, 'sizes' | 'sampleCount'>> {
  const header = await fullBoxHeader(window, box, 12)
  const sampleCount = header.getUint32(8)
  if (sampleCount > MAX_SAMPLES) throw invalidBox(box, 'too-many-entries', sampleCount)
  const sizeBytes = box.type === 'stsz' ? header.getUint32(4) : 0
  if (sizeBytes > 0) return { sampleCount, sizes: { kind: 'constant', sizeBytes } }
  const entryBits = box.type === 'stsz' ? 32 : header.getUint8(7)
  if (entryBits !== 4 && entryBits !== 8 && entryBits !== 16 && entryBits !== 32) {
    throw invalidBox(box, 'entry-invalid', entryBits)
  }
  const table = { offset: box.contentStart + 12, count: sampleCount, entryBits } satisfies Table
  return { sampleCount, sizes: { kind: 'table', table: await withInline(window, box, table) } }
}

async function fullBoxHeader(window: FileWindow, box: Box, length: number): Promise<DataView> {
  if (box.end - box.contentStart < length) throw invalidBox(box, 'too-small')
  return window.view(box.contentStart, length)
}

async function withInline(window: FileWindow, box: Box, table: Table): Promise<Table> {
  const { length } = tableBytes(table, 0, table.count)
  if (table.offset + length > box.end) {
    throw invalidBox(box, 'entries-exceed-box', table.count)
  }
  if (length > MAX_INLINE_TABLE_BYTES) return table
  const view = await window.view(table.offset, length)
  return { ...table, inline: new Uint8Array(view.buffer, view.byteOffset, length).slice() }
}
