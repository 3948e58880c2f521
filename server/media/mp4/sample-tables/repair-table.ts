// Repairs one wrong byte in stts or stsc (ISO/IEC 14496-12 8.6.1.2, 8.7.4): other boxes contain the
// number of samples and the duration as well, so that the right value can be computed. Only what
// cannot be true is replaced: muxers write wrong durations into headers.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { MAX_REPAIRED_TABLE_BYTES } from '../mp4-limits.ts'
import { durationTicks } from './run-cursor.ts'
import { type Table, tableBytes } from './sample-tables.ts'
import { readEntries } from './table-entries.ts'

/** What other boxes contain about the track. */
export interface TrackTotals {
  sampleCount: number
  /** Sum of all durations (mdhd); undefined if unknown. */
  mediaTicks?: number | undefined
  /** Ticks per second. */
  timescale: number
}

/** Whether stts has these totals. Muxers disagree about the duration of the last sample. */
export function agreesWith(
  { sampleCount, mediaTicks, timescale }: TrackTotals,
  { samples, totalTicks }: { samples: number; totalTicks: number },
): boolean {
  if (samples !== sampleCount) return false
  return mediaTicks === undefined || Math.abs(totalTicks - mediaTicks) < timescale
}

/** A field of a table, and the value with which the table agrees with the totals. */
interface Correction {
  /** Number of the word. */
  at: number
  value: number
}

/**
 * stts with one other bit or byte, in memory, if exactly one such change gives the totals;
 * otherwise the same table. A plausible table is not changed, whatever mdhd has.
 */
export async function repairDurations(
  file: OpenFile,
  table: Table,
  totals: TrackTotals,
): Promise<Table> {
  return repair(file, table, (words) => correctDurations(words, totals))
}

/** As `repairDurations`, for stsc. `chunkCount` is that of stco. */
export async function repairChunkRuns(
  file: OpenFile,
  table: Table,
  totals: TrackTotals & { chunkCount: number },
): Promise<Table> {
  return repair(file, table, (words) => correctChunkRuns(words, totals))
}

async function repair(
  file: OpenFile,
  table: Table,
  correct: (words: Uint32Array) => Iterable<Correction>,
): Promise<Table> {
  const { length } = tableBytes(table, 0, table.count)
  if (length > MAX_REPAIRED_TABLE_BYTES) return table
  const words = await readEntries(file, table, { from: 0, to: table.count })
  const correction = chooseOne(words, correct(words))
  if (correction === undefined) return table
  words[correction.at] = correction.value
  const inline = Buffer.alloc(length)
  for (const [at, word] of words.entries()) inline.writeUInt32BE(word, at * 4)
  return { ...table, inline }
}

function* correctDurations(
  words: Uint32Array,
  { sampleCount, mediaTicks, timescale }: TrackTotals,
): Generator<Correction> {
  if (mediaTicks === undefined) return
  // By how much the table exceeds the totals.
  let samples = -sampleCount
  let ticks = -mediaTicks
  for (let at = 0; at < words.length; at += 2) {
    samples += words[at] ?? 0
    ticks += (words[at] ?? 0) * durationTicks(words[at + 1] ?? 0)
  }
  if (samples === 0 && Math.abs(ticks) < timescale) return
  for (let at = 0; at < words.length; at += 2) {
    const count = words[at] ?? 0
    const listed = words[at + 1] ?? 0
    const each = durationTicks(listed)
    if (samples !== 0 && samples * each === ticks) yield { at, value: count - samples }
    if (samples !== 0 || isPlausible(listed, mediaTicks)) continue
    yield { at: at + 1, value: each - ticks / count }
  }
}

/** Whether a sample can have this duration: not negative, not longer than all the media. */
function isPlausible(listed: number, mediaTicks: number): boolean {
  return listed === durationTicks(listed) && listed <= mediaTicks
}

function* correctChunkRuns(
  words: Uint32Array,
  { sampleCount, chunkCount }: TrackTotals & { chunkCount: number },
): Generator<Correction> {
  const runs = words.length / 3
  const firstOf = (run: number): number => (run < runs ? (words[run * 3] ?? 0) : chunkCount + 1)
  const eachOf = (run: number): number => words[run * 3 + 1] ?? 0
  if (firstOf(0) !== 1) {
    yield { at: 0, value: 1 }
    return
  }
  // Runs of a wrong order count as negative here, so that the sum is exact.
  let excess = -sampleCount
  const wrong = { first: runs, last: -1 }
  for (let run = 0; run < runs; run += 1) {
    const chunks = firstOf(run + 1) - firstOf(run)
    excess += chunks * eachOf(run)
    if (chunks > 0 && eachOf(run) > 0) continue
    wrong.first = Math.min(wrong.first, run)
    wrong.last = run
  }
  const isShortChunk = excess >= 0 && excess < eachOf(runs - 1)
  if (wrong.last < 0 && isShortChunk) return
  for (let run = 0; run < runs; run += 1) {
    const chunks = firstOf(run + 1) - firstOf(run)
    if (wrong.first >= run && wrong.last <= run && chunks > 0)
      yield { at: run * 3 + 1, value: eachOf(run) - excess / chunks }
    if (run === 0 || wrong.first < run - 1 || wrong.last > run) continue
    const step = eachOf(run - 1) - eachOf(run)
    // Between equal runs any boundary is right.
    const isAnyRight = step === 0 && excess === 0
    const value = isAnyRight ? firstOf(run - 1) + 1 : firstOf(run) - excess / step
    if (value > firstOf(run - 1) && value < firstOf(run + 1)) yield { at: run * 3, value }
  }
}

const BYTE_MASKS = [0xff, 0xff00, 0xff0000, 0xff000000]

/** The only correction of one bit, or else the only one of one byte. */
function chooseOne(words: Uint32Array, corrections: Iterable<Correction>): Correction | undefined {
  const ofBit = new OnlyOne()
  const ofByte = new OnlyOne()
  for (const correction of corrections) {
    const { at, value } = correction
    if (!Number.isInteger(value) || value <= 0 || value >= 2 ** 32) continue
    const changed = ((words[at] ?? 0) ^ value) >>> 0
    if (changed === 0) continue
    if (Number.isInteger(Math.log2(changed))) ofBit.add(correction)
    if (BYTE_MASKS.some((mask) => (changed & ~mask) === 0)) ofByte.add(correction)
  }
  return ofBit.count > 0 ? ofBit.only : ofByte.only
}

/** Counts corrections: hostile tables have very many. */
class OnlyOne {
  count = 0
  #first: Correction | undefined

  /** Undefined if there is none, or another one. */
  get only(): Correction | undefined {
    return this.count === 1 ? this.#first : undefined
  }

  add(correction: Correction): void {
    this.#first ??= correction
    this.count += 1
  }
}
