// Finds the samples that corrupt tables put after the end of the file, or over the next chunk.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { SampleMap } from '../mp4-source.ts'
import { chunkOffset } from './sample-locations.ts'
import type { Table } from './sample-tables.ts'
import type { EntryRange } from './table-entries.ts'
import { TableReader } from './table-reader.ts'

/**
 * Ranges of unreadable samples, in order. A wrong size moves all later samples of its chunk: they
 * are unreadable from the largest one on. Samples of one size are not checked.
 */
export async function findUnreadableSamples(
  file: OpenFile,
  map: SampleMap,
  signal: AbortSignal,
): Promise<EntryRange[]> {
  const { sizes } = map.tables
  if (sizes.kind === 'constant') return []
  const walk = new ChunkWalk(file, { map, sizes: sizes.table }, signal)
  while (walk.advance() === 'more') await walk.load()
  return walk.found
}

/** Walks samples and chunks in order, synchronously as far as the tables are loaded. */
class ChunkWalk {
  readonly found: EntryRange[] = []
  readonly #fileBytes: number
  readonly #sampleCount: number
  readonly #sizes: TableReader
  readonly #runs: TableReader
  readonly #offsets: TableReader
  #sample = 0
  #run = 0
  /** The next chunk. */
  #chunk = 0
  /** Samples of the current chunk that are not taken yet. */
  #remaining = 0
  #chunkStart = NaN
  #position = NaN
  /** The first sample of the chunk after the end of the file; -1 if there is none. */
  #outside = -1
  #largest = 0
  #largestSample = 0

  constructor(
    file: OpenFile,
    { map, sizes }: { map: SampleMap; sizes: Table },
    signal: AbortSignal,
  ) {
    const { chunkRuns, chunks } = map.tables
    this.#fileBytes = file.stat.sizeBytes
    this.#sampleCount = map.sampleCount
    this.#sizes = new TableReader(file, sizes, { expected: map.sampleCount, signal })
    this.#runs = new TableReader(file, chunkRuns, { expected: chunkRuns.count, signal })
    this.#offsets = new TableReader(file, chunks, { expected: chunks.count, signal })
  }

  /** `more`: call `load` first. */
  advance(): 'more' | 'end' {
    while (this.#sample < this.#sampleCount) {
      if (!this.#sizes.has(this.#sample)) return 'more'
      if (this.#remaining === 0 && !this.#enterChunk()) return 'more'
      const taken = Math.min(this.#sample + this.#remaining, this.#sizes.to, this.#sampleCount)
      this.#remaining -= taken - this.#sample
      this.#takeSizes(taken)
    }
    this.#closeChunk(NaN)
    return 'end'
  }

  async load(): Promise<void> {
    await this.#sizes.load(this.#sample)
    await this.#offsets.load(this.#chunk)
    if (!this.#hasRun()) await this.#runs.loadFrom(this.#run)
  }

  /** Whether the current run and the next one are loaded. */
  #hasRun(): boolean {
    const next = Math.min(this.#run + 1, this.#runs.table.count - 1)
    return this.#runs.has(this.#run) && this.#runs.has(next)
  }

  /** False if more entries must be loaded. */
  #enterChunk(): boolean {
    if (!this.#hasRun() || !this.#offsets.has(this.#chunk)) return false
    const isRunOver =
      this.#run + 1 < this.#runs.table.count &&
      this.#chunk + 1 >= this.#runs.field(this.#run + 1, 0)
    if (isRunOver) this.#run += 1
    const { words, from, wordsEach } = this.#offsets
    const start = chunkOffset(words, (this.#chunk - from) * wordsEach, wordsEach)
    this.#closeChunk(start)
    this.#remaining = this.#runs.field(this.#run, 1)
    this.#chunk += 1
    this.#chunkStart = start
    this.#position = start
    this.#outside = -1
    this.#largest = 0
    this.#largestSample = this.#sample
    return true
  }

  #takeSizes(end: number): void {
    const { words, from } = this.#sizes
    let position = this.#position
    for (let sample = this.#sample; sample < end; sample += 1) {
      const size = words[sample - from] ?? 0
      position += size
      if (size > this.#largest) {
        this.#largest = size
        this.#largestSample = sample
      }
      if (position > this.#fileBytes && this.#outside < 0) this.#outside = sample
    }
    this.#position = position
    this.#sample = end
  }

  /** Records the unreadable samples of the chunk, if the next one is at `next`. */
  #closeChunk(next: number): void {
    const isOver = next > this.#chunkStart && next < this.#position
    if (this.#outside < 0 && !isOver) return
    const from = isOver ? this.#largestSample : this.#outside
    const last = this.found.at(-1)
    if (last?.to === from) last.to = this.#sample
    else this.found.push({ from, to: this.#sample })
  }
}
