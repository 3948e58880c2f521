// Builds a track's sample map: checks its tables against each other and the file, and precomputes
// sums for random access.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { MAX_SPLIT_POINTS } from '../../timeline/split-points.ts'
import type { SampleMap } from '../mp4-source.ts'
import { MAX_COMPOSITION_SECONDS, MAX_UNREADABLE_RANGES } from '../mp4-limits.ts'
import { UnplayableError } from '../../../base/errors.ts'
import { invalidBox } from '../boxes/box.ts'
import { durationTicks } from './run-cursor.ts'
import { CHUNK_RUN_STEP, SIZE_STEP, readSampleLocations } from './sample-locations.ts'
import { agreesWith, repairChunkRuns, repairDurations } from './repair-table.ts'
import type { SampleTables } from './sample-tables.ts'
import type { EntryRange } from './table-entries.ts'
import { TableReader } from './table-reader.ts'
import { findUnreadableSamples } from './unreadable-samples.ts'

export interface SampleSurvey {
  map: SampleMap
  /** The tables list samples after the end of the file. */
  isTruncated: boolean
  /** Sum and maximum of the durations of the served samples, in ticks of the file. */
  totalTicks: number
  largestDuration: number
  /** Changes of the codec configuration; the first is at sample 0. Descriptions count from 0. */
  changes: DescriptionChange[]
}

export interface DescriptionChange {
  sample: number
  description: number
}

export interface SurveyPlan {
  /** Number of sample entries of the track. */
  descriptionCount: number
  /** Whether the survey ends at the first change of the description. */
  stopsAtChange: 'stop' | 'continue'
  /** Ticks per second of the file. */
  timescale: number
  /** Duration of the media in ticks, by another box than stts; absent if unknown. */
  mediaTicks?: number | undefined
  signal: AbortSignal
}

/**
 * Surveys a track. The number of samples is the minimum of sizes, durations and chunks, truncated
 * at the end of the file. Throws `unplayable` for contradictory tables.
 */
export async function surveySamples(
  file: OpenFile,
  listed: SampleTables,
  plan: SurveyPlan,
): Promise<SampleSurvey> {
  const { tables, chunkRuns, timed } = await surveyTables(file, listed, plan)
  const [, nextChange] = chunkRuns.changes
  const end = plan.stopsAtChange === 'stop' && nextChange ? nextChange.sample : Infinity
  const claimed = Math.min(tables.sampleCount, chunkRuns.capacity, timed.samples, end)
  const needsSums = chunkRuns.longestChunk > SIZE_STEP && tables.sizes.kind === 'table'
  const map: SampleMap = {
    tables,
    maxOffsetTicks: plan.timescale * MAX_COMPOSITION_SECONDS,
    sampleCount: claimed,
    chunkRunSamples: chunkRuns.firstSamples,
    ...(needsSums && { sizeSums: await sumSizes(file, tables, plan.signal) }),
  }
  const unreadable = await findUnreadableSamples(file, map, plan.signal)
  const sampleCount = await countInsideFile(file, map, unreadable)
  const { totalTicks, largestDuration } =
    sampleCount === timed.samples
      ? timed
      : await surveyDurations(file, tables, { to: sampleCount, signal: plan.signal })
  const changes = chunkRuns.changes.filter((change) => change.sample < sampleCount)
  const leftOut = unreadable.filter(({ from }) => from < sampleCount)
  if (leftOut.length > MAX_UNREADABLE_RANGES) {
    throw new UnplayableError({ code: 'sample-sizes-invalid' })
  }
  return {
    map: { ...map, sampleCount, ...(leftOut.length > 0 && { unreadable: leftOut }) },
    isTruncated: sampleCount < claimed,
    totalTicks,
    largestDuration,
    changes,
  }
}

interface TableSurvey {
  tables: SampleTables
  chunkRuns: ChunkRunSurvey
  timed: DurationSurvey
}

/** Tables that contradict the other boxes are repaired if possible. */
async function surveyTables(
  file: OpenFile,
  listed: SampleTables,
  plan: SurveyPlan,
): Promise<TableSurvey> {
  const survey = async (tables: SampleTables): Promise<TableSurvey> => ({
    tables,
    chunkRuns: await surveyChunkRuns(file, tables, plan),
    timed: await surveyDurations(file, tables, { to: Infinity, signal: plan.signal }),
  })
  const found = await survey(listed)
  const repaired = await repairTables(file, found, plan)
  const { tables, chunkRuns, timed } = repaired === listed ? found : await survey(repaired)
  if (chunkRuns.invalidRun === undefined) return { tables, chunkRuns, timed }
  const box = { type: 'stsc', start: listed.chunkRuns.offset }
  throw invalidBox(box, 'entry-invalid', chunkRuns.invalidRun)
}

/** The same tables if they agree with the other boxes, or cannot be repaired. */
async function repairTables(
  file: OpenFile,
  { tables, chunkRuns: runs, timed }: TableSurvey,
  plan: SurveyPlan,
): Promise<SampleTables> {
  const { sampleCount } = tables
  const totals = { ...plan, sampleCount, chunkCount: tables.chunks.count }
  const hasChunks = runs.isComplete && runs.capacity === sampleCount
  const durations = agreesWith(totals, timed)
    ? tables.durations
    : await repairDurations(file, tables.durations, totals)
  const chunkRuns = hasChunks
    ? tables.chunkRuns
    : await repairChunkRuns(file, tables.chunkRuns, totals)
  const isSame = durations === tables.durations && chunkRuns === tables.chunkRuns
  return isSame ? tables : { ...tables, durations, chunkRuns }
}

interface ChunkRunSurvey {
  firstSamples: Uint32Array
  /** Samples in all chunks. */
  capacity: number
  longestChunk: number
  changes: DescriptionChange[]
  /** Whether every run was needed for the samples, and is valid. */
  isComplete: boolean
  /** The first run that contradicts its neighbours; the survey ends there. */
  invalidRun: number | undefined
}

/**
 * stsc (8.7.4): chunk numbers increase, and no run is empty. Ten hours can have a million runs,
 * hence the plain inner loop.
 */
async function surveyChunkRuns(
  file: OpenFile,
  { chunkRuns, chunks, sampleCount }: SampleTables,
  { descriptionCount, signal }: SurveyPlan,
): Promise<ChunkRunSurvey> {
  const reader = new TableReader(file, chunkRuns, { expected: chunkRuns.count, signal })
  const firstSamples: number[] = []
  const changes: DescriptionChange[] = []
  let sample = 0
  let longestChunk = 0
  let firstChunk = 1
  let description = -1
  let run = 0
  let invalidRun: number | undefined
  const isOpen = (end: number): boolean =>
    run < end && sample < sampleCount && firstChunk <= chunks.count && invalidRun === undefined
  while (isOpen(chunkRuns.count)) {
    // The next run gives the length of a run, so that each slice starts with the last run of the
    // previous one.
    await reader.loadFrom(run)
    const { words, from, to } = reader
    const end = to === chunkRuns.count ? to : to - 1
    for (; isOpen(end); run += 1) {
      const at = (run - from) * 3
      const perChunk = words[at + 1] ?? 0
      const nextChunk = run + 1 < chunkRuns.count ? (words[at + 3] ?? 0) : Infinity
      if (words[at] !== firstChunk || perChunk === 0 || nextChunk <= firstChunk) {
        invalidRun = run
        break
      }
      if (run % CHUNK_RUN_STEP === 0) firstSamples.push(sample)
      const wanted = Math.min(Math.max(words[at + 2] ?? 1, 1), descriptionCount)
      if (wanted !== description) changes.push({ sample, description: wanted - 1 })
      description = wanted
      const chunkCount = Math.min(nextChunk, chunks.count + 1) - firstChunk
      if (chunkCount > 0) sample += chunkCount * perChunk
      if (perChunk > longestChunk) longestChunk = perChunk
      firstChunk = nextChunk
    }
    if (changes.length > MAX_SPLIT_POINTS)
      throw invalidBox(
        { type: 'stsc', start: chunkRuns.offset },
        'too-many-entries',
        changes.length,
      )
  }
  return {
    firstSamples: Uint32Array.from(firstSamples),
    capacity: sample,
    longestChunk,
    changes,
    isComplete: invalidRun === undefined && (run === chunkRuns.count || firstChunk > chunks.count),
    invalidRun,
  }
}

interface DurationSurvey {
  samples: number
  totalTicks: number
  largestDuration: number
}

/** stts (8.6.1.2) up to a sample. */
async function surveyDurations(
  file: OpenFile,
  { durations }: SampleTables,
  { to, signal }: { to: number; signal: AbortSignal },
): Promise<DurationSurvey> {
  const reader = new TableReader(file, durations, { expected: durations.count, signal })
  let samples = 0
  let totalTicks = 0
  let largestDuration = 0
  for (let run = 0; run < durations.count && samples < to; run += 1) {
    if (!reader.has(run)) await reader.load(run)
    const count = Math.min(reader.field(run, 0), to - samples)
    const ticks = durationTicks(reader.field(run, 1))
    samples += count
    totalTicks += count * ticks
    if (ticks > largestDuration) largestDuration = ticks
  }
  return { samples, totalTicks, largestDuration }
}

async function sumSizes(
  file: OpenFile,
  { sizes, sampleCount }: SampleTables,
  signal: AbortSignal,
): Promise<Float64Array> {
  const sums = new Float64Array(Math.ceil(sampleCount / SIZE_STEP))
  if (sizes.kind === 'constant') return sums
  const reader = new TableReader(file, sizes.table, { expected: sampleCount, signal })
  let bytes = 0
  for (let sample = 0; sample < sampleCount; sample += 1) {
    if (sample % SIZE_STEP === 0) sums[sample / SIZE_STEP] = bytes
    if (!reader.has(sample)) await reader.load(sample)
    bytes += reader.field(sample, 0)
  }
  if (!Number.isSafeInteger(bytes)) throw new UnplayableError({ code: 'sample-sizes-invalid' })
  return sums
}

/**
 * Number of samples up to the last one inside the file: a truncated copy lists more than it
 * contains. With samples of one size only the chunks count, which are in order: a binary search
 * finds the last one.
 */
async function countInsideFile(
  file: OpenFile,
  map: SampleMap,
  unreadable: readonly EntryRange[],
): Promise<number> {
  if (map.tables.sizes.kind === 'table') {
    const last = unreadable.at(-1)
    return last?.to === map.sampleCount ? last.from : map.sampleCount
  }
  const isInside = async (sample: number) => {
    const { sizes, offsets } = await readSampleLocations(file, map, {
      from: sample,
      to: sample + 1,
    })
    return (offsets[0] ?? Infinity) + (sizes[0] ?? 0) <= file.stat.sizeBytes
  }
  if (map.sampleCount === 0 || (await isInside(map.sampleCount - 1))) return map.sampleCount
  let inside = 0
  let outside = map.sampleCount - 1
  while (inside < outside) {
    const middle = Math.floor((inside + outside) / 2)
    if (await isInside(middle)) inside = middle + 1
    else outside = middle
  }
  return inside
}
