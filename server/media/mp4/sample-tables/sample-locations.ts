// Locates samples in the file: the chunk of a sample (stsc, stco), and the offset in the chunk
// (stsz).
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { SampleMap } from '../mp4-source.ts'
import { type EntryRange, readEntries } from './table-entries.ts'

/** The map stores the first sample of every CHUNK_RUN_STEP-th run of stsc. */
export const CHUNK_RUN_STEP = 512
/**
 * The map stores the total size before every SIZE_STEP-th sample; chunks up to this length do not
 * need it.
 */
export const SIZE_STEP = 4096

/** Sizes and positions of consecutive samples. */
export interface SampleLocations {
  sizes: Uint32Array
  offsets: Float64Array
}

/**
 * Reads sizes and positions of a range of samples, which is not empty and within the map's count.
 * Does not check positions against the file size.
 */
export async function readSampleLocations(
  file: OpenFile,
  map: SampleMap,
  range: EntryRange,
): Promise<SampleLocations> {
  const runs = await readChunkRuns(file, map, range)
  const first = findChunk(runs, range.from)
  const last = findChunk(runs, range.to - 1)
  // Summing sizes from the start of the chunk is only affordable in a short chunk.
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
    remaining: first.firstSample + (runs.samplesPerChunk[first.run] ?? 1) - range.from,
  }
  return { sizes: wanted, offsets: locateSamples(layout, wanted) }
}

/**
 * Runs of stsc as parallel arrays, from the one with the first sample; the last may be incomplete.
 * Chunks count from 0.
 */
interface ChunkRuns {
  firstChunks: Uint32Array
  samplesPerChunk: Uint32Array
  firstSamples: Float64Array
}

interface ChunkLocation {
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
  const most = words.length / 3
  const firstChunks = new Uint32Array(most)
  const samplesPerChunk = new Uint32Array(most)
  const firstSamples = new Float64Array(most)
  let sample = map.chunkRunSamples[step] ?? 0
  let count = 0
  for (let run = 0; run < most; run += 1) {
    const firstChunk = (words[run * 3] ?? 1) - 1
    // Nothing refers to later runs, which the survey has not checked.
    if (firstChunk >= map.tables.chunks.count && run > 0) break
    count += 1
    firstSamples[run] = sample
    firstChunks[run] = firstChunk
    samplesPerChunk[run] = words[run * 3 + 1] ?? 1
    const chunks = (words[run * 3 + 3] ?? 1) - (words[run * 3] ?? 1)
    sample += chunks * (samplesPerChunk[run] ?? 1)
  }
  return {
    firstChunks: firstChunks.subarray(0, count),
    samplesPerChunk: samplesPerChunk.subarray(0, count),
    firstSamples: firstSamples.subarray(0, count),
  }
}

function findChunk(runs: ChunkRuns, sample: number): ChunkLocation {
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

interface ChunkLayout {
  runs: ChunkRuns
  first: ChunkLocation
  /** Positions of the chunks, from `first`. */
  chunkOffsets: Float64Array
  /** Bytes of the first chunk before the first requested sample. */
  bytesBefore: number
  /** Requested samples in the first chunk. */
  remaining: number
}

function locateSamples(layout: ChunkLayout, sizes: Uint32Array): Float64Array {
  const { runs, first, chunkOffsets: starts } = layout
  const offsets = new Float64Array(sizes.length)
  let { run, chunk } = first
  let { remaining } = layout
  let position = (starts[0] ?? NaN) + layout.bytesBefore
  for (let index = 0; index < sizes.length; index += 1) {
    if (remaining === 0) {
      chunk += 1
      if (chunk >= (runs.firstChunks[run + 1] ?? Infinity)) run += 1
      remaining = runs.samplesPerChunk[run] ?? 1
      position = starts[chunk - first.chunk] ?? NaN
    }
    offsets[index] = position
    position += sizes[index] ?? 0
    remaining -= 1
  }
  return offsets
}

function chunkOffsets(words: Uint32Array, entryBits: number): Float64Array {
  if (entryBits === 32) return Float64Array.from(words)
  return Float64Array.from({ length: words.length / 2 }, (_, index) =>
    chunkOffset(words, index * 2, 2),
  )
}

/** The chunk offset at a word of stco (one word each) or co64 (two). */
export function chunkOffset(words: Uint32Array, at: number, wordsEach: number): number {
  const first = words[at] ?? NaN
  return wordsEach === 1 ? first : first * 2 ** 32 + (words[at + 1] ?? NaN)
}

async function readSizes(
  file: OpenFile,
  { tables: { sizes } }: SampleMap,
  range: EntryRange,
): Promise<Uint32Array> {
  if (sizes.kind === 'table') return readEntries(file, sizes.table, range)
  return new Uint32Array(range.to - range.from).fill(sizes.sizeBytes)
}

/** Total size of a range of samples, from the stored sums. */
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

/** Index of the last value that is at most `wanted`, in an ascending array; 0 if there is none. */
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
