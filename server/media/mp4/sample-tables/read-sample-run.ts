// Reads the samples of a track in a segment: sizes, locations and times, from slices of the sample
// tables.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { SplitPointRange } from '../../media-index.ts'
import type { SampleRun } from '../../media-reader.ts'
import { MAX_EMPTY_RUNS } from '../mp4-limits.ts'
import type { Mp4Track } from '../mp4-source.ts'
import { dropSamples } from './drop-samples.ts'
import { compositionTicks, durationTicks } from './run-cursor.ts'
import { readSampleLocations } from './sample-locations.ts'
import type { Table } from './sample-tables.ts'
import { type EntryRange, readEntries } from './table-entries.ts'

/**
 * The samples between two split points without unreadable ones; undefined if there are none. The
 * caller bounds their number.
 */
export async function readSampleRun(
  file: OpenFile,
  track: Mp4Track,
  range: SplitPointRange,
): Promise<SampleRun | undefined> {
  const samples = sampleRange(track, range)
  const count = samples.to - samples.from
  if (count <= 0) return undefined
  const [{ sizes, offsets }, times, syncs] = await Promise.all([
    readSampleLocations(file, track.samples, samples),
    readRunTimes(file, track, range),
    readSyncs(file, track, { ...range, samples }),
  ])
  const { kind, timescale } = track
  const run = { kind, timescale, sizes, offsets, ...times, ...(syncs && { syncs }) }
  const isOutside = (offset: number, at: number) =>
    !(offset + (sizes[at] ?? 0) <= file.stat.sizeBytes)
  const { unreadable = [] } = track.samples
  const nearby = unreadable.filter(({ from, to }) => to > samples.from && from < samples.to)
  if (nearby.length === 0 && !offsets.some(isOutside)) return run
  return dropSamples(run, (at) => {
    const sample = samples.from + at
    const isUnreadable = nearby.some(({ from, to }) => sample >= from && sample < to)
    return isUnreadable || isOutside(offsets[at] ?? NaN, at)
  })
}

/** The times of the samples between two split points. */
export async function readRunTimes(
  file: OpenFile,
  track: Mp4Track,
  range: SplitPointRange,
): Promise<RunTimes> {
  const samples = sampleRange(track, range)
  const counted = { ...range, count: samples.to - samples.from }
  const [durations, compositionOffsets] = await Promise.all([
    readDurations(file, track, counted),
    readCompositionOffsets(file, track, counted),
  ])
  const decodeTicks = track.cursors.decodeTicks[range.from] ?? 0
  return raiseDecodeTimes({
    firstSample: samples.from,
    firstDecodeTicks: decodeTicks * track.tickScale + track.decodeShiftTicks,
    durations,
    ...(compositionOffsets && { compositionOffsets }),
  })
}

type RunTimes = Pick<SampleRun, 'firstDecodeTicks' | 'durations' | 'compositionOffsets'>

/**
 * Raises decode times that a track's shift made negative (the B-frame delay at the start of a
 * recording): sample n is decoded at tick n or later, and its presentation time stays. Depends only
 * on the sample number, so that adjacent segments agree.
 */
export function raiseDecodeTimes({
  firstSample,
  ...times
}: RunTimes & { firstSample: number }): RunTimes {
  const { firstDecodeTicks, durations } = times
  const count = durations.length
  if (firstDecodeTicks >= firstSample + count) return times
  const raised = new Uint32Array(count)
  const compositionOffsets = new Int32Array(count)
  let ticks = firstDecodeTicks
  for (let at = 0; at < count; at += 1) {
    const sample = firstSample + at
    const from = Math.max(ticks, sample)
    compositionOffsets[at] = (times.compositionOffsets?.[at] ?? 0) + ticks - from
    ticks += durations[at] ?? 0
    raised[at] = Math.max(ticks, sample + 1) - from
  }
  const isFlat = compositionOffsets.every((offset) => offset === 0)
  return {
    firstDecodeTicks: Math.max(firstDecodeTicks, firstSample),
    durations: raised,
    ...(!isFlat && { compositionOffsets }),
  }
}

/** The samples between two split points; the last one extends to the end. */
export function sampleRange(
  { cursors, samples }: Mp4Track,
  { from, to }: SplitPointRange,
): EntryRange {
  return {
    from: cursors.samples[from] ?? samples.sampleCount,
    to: cursors.samples[to] ?? samples.sampleCount,
  }
}

interface CountedRange extends SplitPointRange {
  count: number
}

async function readDurations(
  file: OpenFile,
  { cursors, samples, tickScale }: Mp4Track,
  { from, to, count }: CountedRange,
): Promise<Uint32Array> {
  const table = samples.tables.durations
  const runs = runRange(table, cursors.durationRuns, { from, to, count })
  const words = await readEntries(file, table, runs)
  const durations = new Uint32Array(count)
  spreadRuns(words, cursors.durationUsed[from] ?? 0, (index, end, value) => {
    durations.fill(durationTicks(value) * tickScale, index, Math.min(end, count))
  })
  return durations
}

async function readCompositionOffsets(
  file: OpenFile,
  { cursors, samples, tickScale, compositionShiftTicks: shift }: Mp4Track,
  { from, to, count }: CountedRange,
): Promise<Int32Array | undefined> {
  const table = samples.tables.compositionOffsets
  if (table === undefined || cursors.offsetRuns === undefined) {
    return shift === 0 ? undefined : new Int32Array(count).fill(shift)
  }
  const words = await readEntries(
    file,
    table,
    runRange(table, cursors.offsetRuns, { from, to, count }),
  )
  const offsets = new Int32Array(count).fill(shift)
  spreadRuns(words, cursors.offsetUsed?.[from] ?? 0, (index, end, value) => {
    const ticks = compositionTicks(value, samples.maxOffsetTicks)
    offsets.fill(ticks * tickScale + shift, index, Math.min(end, count))
  })
  return offsets.every((offset) => offset === 0) ? undefined : offsets
}

/**
 * Runs from one split point to the next, both inclusive, as they may share a run. Bounded like the
 * walk of the index.
 */
function runRange(
  table: Table,
  runOfSplitPoint: Uint32Array,
  { from, to, count }: CountedRange,
): EntryRange {
  const first = runOfSplitPoint[from] ?? table.count
  const last = Math.min(runOfSplitPoint[to] ?? table.count, table.count - 1)
  return { from: first, to: Math.min(last + 1, first + count + MAX_EMPTY_RUNS + 1) }
}

/**
 * Calls `fill` with (first sample, sample after the last, value) for each run of (count, value);
 * the first run starts `used` samples earlier.
 */
function spreadRuns(
  words: Uint32Array,
  used: number,
  fill: (index: number, end: number, value: number) => void,
): void {
  let index = -used
  for (let at = 0; at + 1 < words.length; at += 2) {
    const end = index + (words[at] ?? 0)
    if (end > 0) fill(Math.max(index, 0), end, words[at + 1] ?? 0)
    index = end
  }
}

async function readSyncs(
  file: OpenFile,
  { cursors, samples: { tables } }: Mp4Track,
  { from, to, samples }: SplitPointRange & { samples: EntryRange },
): Promise<Uint8Array | undefined> {
  if (tables.syncs === undefined || cursors.syncs === undefined) return undefined
  const first = cursors.syncs[from] ?? 0
  const last = Math.min(cursors.syncs[to] ?? tables.syncs.count, first + samples.to - samples.from)
  const numbers = await readEntries(file, tables.syncs, { from: first, to: last })
  const syncs = new Uint8Array(samples.to - samples.from)
  for (const number of numbers) syncs[number - 1 - samples.from] = 1
  return syncs
}
