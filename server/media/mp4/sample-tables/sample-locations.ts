// Where samples lie in the file: which chunk holds a sample (stsc, stco), and how far into it (stsz).
import type { OpenFile } from '../../../storage/storage.ts'
import type { SampleMap } from '../mp4-source.ts'
import { type EntryRange, readEntries } from './table-entries.ts'

/** Every so many runs of stsc the map remembers a first sample. */
export const CHUNK_RUN_STEP = 512
/** Every so many samples the map remembers a sum of sizes; chunks up to this length need none. */
export const SIZE_STEP = 4096

/** Sizes and positions of samples, in order. */
export interface SamplePlaces {
  sizes: Uint32Array
  offsets: Float64Array
}

/**
 * Reads sizes and positions of the samples `from` to `to`: at least one, all of them within the map's count.
 * Positions are not checked against the file's size.
 */
export async function readSamplePlaces(
  file: OpenFile,
  map: SampleMap,
  range: EntryRange,
): Promise<SamplePlaces> {
  const runs = await readChunkRuns(file, map, range)
  const first = findChunk(runs, range.from)
  const last = findChunk(runs, range.to - 1)
  // A long chunk is entered in its middle by the sums of sizes, any other from its start.
  const isLong = range.from - first.firstSample > SIZE_STEP
  const sizesFrom = isLong ? range.from : first.firstSample
  const [words, sizes, bytesSkipped] = await Promise.all([
    readEntries(file, map.tables.chunks, { from: first.chunk, to: last.chunk + 1 }),
    readSizes(file, map, { from: sizesFrom, to: range.to }),
    isLong ? sizeBetween(file, map, { from: first.firstSample, to: range.from }) : 0,
  ])
  const before = sizes.subarray(0, range.from - sizesFrom)
  const wanted = sizes.subarray(range.from - sizesFrom)
  const layout = {
    runs,
    first,
    chunkOffsets: chunkOffsets(words, map.tables.chunks.entryBits),
    bytesBefore: bytesSkipped + sum(before),
    left: first.firstSample + (runs.samplesPerChunk[first.run] ?? 1) - range.from,
  }
  return { sizes: wanted, offsets: layOut(layout, wanted) }
}

/** Runs of stsc, from the one that holds a sample on, as parallel arrays; the last may go on. Chunks from 0. */
interface ChunkRuns {
  firstChunks: Uint32Array
  samplesPerChunk: Uint32Array
  firstSamples: Float64Array
}

interface ChunkPlace {
  run: number
  chunk: number
  firstSample: number
}

async function readChunkRuns(
  file: OpenFile,
  map: SampleMap,
  range: EntryRange,
): Promise<ChunkRuns> {
  const step = lastAtMost(map.chunkRunSamples, range.from)
  const endStep = lastAtMost(map.chunkRunSamples, range.to) + 1
  const from = step * CHUNK_RUN_STEP
  const words = await readEntries(file, map.tables.chunkRuns, {
    from,
    to: endStep * CHUNK_RUN_STEP + 1,
  })
  const count = words.length / 3
  const firstChunks = new Uint32Array(count)
  const samplesPerChunk = new Uint32Array(count)
  const firstSamples = new Float64Array(count)
  let sample = map.chunkRunSamples[step] ?? 0
  for (let run = 0; run < count; run += 1) {
    firstSamples[run] = sample
    firstChunks[run] = (words[run * 3] ?? 1) - 1
    samplesPerChunk[run] = words[run * 3 + 1] ?? 1
    const chunks = (words[run * 3 + 3] ?? 1) - (words[run * 3] ?? 1)
    sample += chunks * (samplesPerChunk[run] ?? 1)
  }
  return { firstChunks, samplesPerChunk, firstSamples }
}

function findChunk(runs: ChunkRuns, sample: number): ChunkPlace {
  const run = lastAtMost(runs.firstSamples, sample)
  const start = runs.firstSamples[run] ?? 0
  const perChunk = runs.samplesPerChunk[run] ?? 1
  const chunks = Math.floor((sample - start) / perChunk)
  return {
    run,
    chunk: (runs.firstChunks[run] ?? 0) + chunks,
    firstSample: start + chunks * perChunk,
  }
}

interface Layout {
  runs: ChunkRuns
  first: ChunkPlace
  /** Positions of chunks, from the first on. */
  chunkOffsets: Float64Array
  /** Bytes of the first chunk in front of the first wanted sample. */
  bytesBefore: number
  /** Wanted samples in the first chunk. */
  left: number
}

function layOut(layout: Layout, sizes: Uint32Array): Float64Array {
  const { runs, first, chunkOffsets: starts } = layout
  const offsets = new Float64Array(sizes.length)
  let { run, chunk } = first
  let { left } = layout
  let position = (starts[0] ?? NaN) + layout.bytesBefore
  for (let index = 0; index < sizes.length; index += 1) {
    if (left === 0) {
      chunk += 1
      if (chunk >= (runs.firstChunks[run + 1] ?? Infinity)) run += 1
      left = runs.samplesPerChunk[run] ?? 1
      position = starts[chunk - first.chunk] ?? NaN
    }
    offsets[index] = position
    position += sizes[index] ?? 0
    left -= 1
  }
  return offsets
}

function chunkOffsets(words: Uint32Array, entryBits: number): Float64Array {
  if (entryBits === 32) return Float64Array.from(words)
  const high = (index: number) => (words[index * 2] ?? 0) * 2 ** 32
  return Float64Array.from({ length: words.length / 2 }, (_, index) => {
    return high(index) + (words[index * 2 + 1] ?? 0)
  })
}

async function readSizes(
  file: OpenFile,
  { tables: { sizes } }: SampleMap,
  range: EntryRange,
): Promise<Uint32Array> {
  if (sizes.kind === 'table') return readEntries(file, sizes.table, range)
  return new Uint32Array(range.to - range.from).fill(sizes.sizeBytes)
}

/** Bytes of the samples in a range, by the remembered sums. */
async function sizeBetween(file: OpenFile, map: SampleMap, range: EntryRange): Promise<number> {
  const { sizes } = map.tables
  if (sizes.kind === 'constant') return (range.to - range.from) * sizes.sizeBytes
  const before = async (sample: number) => {
    const step = Math.floor(sample / SIZE_STEP)
    const rest = await readSizes(file, map, { from: step * SIZE_STEP, to: sample })
    return (map.sizeSums?.[step] ?? NaN) + sum(rest)
  }
  const [start, end] = await Promise.all([before(range.from), before(range.to)])
  return end - start
}

function sum(sizes: Uint32Array): number {
  return sizes.reduce((total, size) => total + size, 0)
}

/** Index of the last value that is not above `wanted`, in an ascending array; 0 where there is none. */
function lastAtMost(values: Uint32Array | Float64Array, wanted: number): number {
  let low = 0
  let high = values.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((values[middle] ?? Infinity) <= wanted) low = middle
    else high = middle
  }
  return low
}
