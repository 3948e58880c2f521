// Movie fragments (moof, ISO/IEC 14496-12 8.8): where their samples lie, how long they last, which are key frames.
import { brokenBox } from '../../mp4/boxes/box.ts'
import type { Box } from '../../mp4/boxes/box.ts'
import type { FragmentDefaults } from '../../mp4/boxes/fragment-defaults.ts'
import { compositionTicks, durationTicks } from '../../mp4/sample-tables/run-cursor.ts'
import { MAX_FRAGMENT_SAMPLES } from '../fmp4-limits.ts'

/** One moof, or what stands for one. */
export interface Fragment {
  start: number
  end: number
  /** In the order of the file. */
  runs: TrackSamples[]
  /** Some samples are not in the file: it is still being written, or was cut off. */
  isTruncated: boolean
}

/** Samples of one track in a fragment (one traf), in decode order, as parallel arrays. All times in the file's ticks. */
export interface TrackSamples {
  trackId: number
  /** Sample entry, from 1. */
  description: number
  /** Decode time of the first sample (tfdt); absent where the time goes on from the fragment before. */
  decodeTicks?: number
  sizes: Uint32Array
  offsets: Float64Array
  durations: Uint32Array
  compositionOffsets: Int32Array
  /** 1 for key frames. */
  keys: Uint8Array
}

/** What is known of a track's samples in front of its fragments. */
export interface TrackDefaults extends FragmentDefaults {
  /** Composition offsets that are larger, to either side, are not believed. */
  mostOffsetTicks: number
}

/** What a fragment is read with. */
export interface FragmentContext {
  /** trex, by track; tracks without are passed over. */
  defaults: ReadonlyMap<number, TrackDefaults>
  /** Samples must lie before it: those behind are not written yet, or were cut off. */
  fileBytes: number
  /** So they must before this; those behind are damaged. Infinity where it is not known. */
  dataEnd: number
}

const TYPE = {
  traf: 0x74_72_61_66,
  tfhd: 0x74_66_68_64,
  tfdt: 0x74_66_64_74,
  trun: 0x74_72_75_6e,
} as const

/** Parses a whole moof box; `bytes` are all of it. Throws `unplayable` where a box in it contradicts itself. */
export function parseFragment(bytes: DataView, moof: Box, context: FragmentContext): Fragment {
  const fragment: Fragment = { start: moof.start, end: moof.end, runs: [], isTruncated: false }
  const cursor: DataCursor = { moof, end: moof.start, shift: undefined, samples: 0 }
  for (const traf of boxesIn(bytes, moof.contentStart - moof.start, bytes.byteLength)) {
    if (traf.type !== TYPE.traf) continue
    const run = parseTraf(bytes, traf, { ...context, cursor })
    if (run === undefined) continue
    const whole = samplesBefore(run, Math.min(context.fileBytes, context.dataEnd))
    const isShort = whole.sizes.length < run.sizes.length
    if (isShort && context.dataEnd === Infinity) fragment.isTruncated = true
    if (whole.sizes.length > 0) fragment.runs.push(whole)
  }
  return fragment
}

/** A box inside the moof's bytes; positions count from the moof. */
interface InnerBox {
  type: number
  start: number
  end: number
}

/** Where data lies that does not say so itself: behind that of the traf before (8.8.7.1). */
interface DataCursor {
  moof: Box
  end: number
  /** What is added to positions in the file that the moof tells; undefined until one does. */
  shift: number | undefined
  /** Samples so far, against MAX_FRAGMENT_SAMPLES. */
  samples: number
}

interface TrafContext extends FragmentContext {
  cursor: DataCursor
}

function boxesIn(bytes: DataView, from: number, to: number): InnerBox[] {
  const boxes: InnerBox[] = []
  for (let at = from; at + 8 <= to;) {
    const size = bytes.getUint32(at)
    const type = bytes.getUint32(at + 4)
    if (size === 0) break
    if (size < 8 || at + size > to) throw brokenBox('moof', at, 'has a part of impossible size')
    boxes.push({ type, start: at + 8, end: at + size })
    at += size
  }
  return boxes
}

function parseTraf(
  bytes: DataView,
  traf: InnerBox,
  context: TrafContext,
): TrackSamples | undefined {
  const boxes = boxesIn(bytes, traf.start, traf.end)
  const tfhd = boxes.find(({ type }) => type === TYPE.tfhd)
  if (tfhd === undefined) return undefined
  const truns = boxes.filter(({ type }) => type === TYPE.trun)
  if (truns.length === 0) return undefined
  const heads = truns.map((trun) => parseRunHeader(bytes, trun, context.cursor))
  const header = parseTrackHeader(bytes, tfhd, { ...context, dataOffset: heads[0]?.dataOffset })
  const count = heads.reduce((sum, head) => sum + head.count, 0)
  const samples: TrackSamples = {
    trackId: header.trackId,
    description: header.description,
    ...readDecodeTime(bytes, boxes),
    sizes: new Uint32Array(count),
    offsets: new Float64Array(count),
    durations: new Uint32Array(count),
    compositionOffsets: new Int32Array(count),
    keys: new Uint8Array(count),
  }
  let first = 0
  let position = header.base
  for (const head of heads) {
    if (head.dataOffset !== undefined) position = header.base + head.dataOffset
    // Data cannot lie in the moof: who says nothing of it means the mdat behind.
    const { moof } = context.cursor
    if (position >= moof.start && position < moof.end) position = moof.end + 8
    position = fillRun(bytes, { ...head, header, first, position }, samples)
    first += head.count
  }
  context.cursor.end = position
  return context.defaults.has(header.trackId) ? samples : undefined
}

/** tfhd (8.8.7), with the defaults of trex where it is silent. */
interface TrackHeader extends TrackDefaults {
  trackId: number
  base: number
}

const NO_DEFAULTS: TrackDefaults = {
  description: 1,
  durationTicks: 0,
  sizeBytes: 0,
  flags: 0,
  mostOffsetTicks: 0,
}

function parseTrackHeader(
  bytes: DataView,
  { start, end }: InnerBox,
  { defaults, cursor, dataOffset }: TrafContext & Pick<RunHeader, 'dataOffset'>,
): TrackHeader {
  const read = fieldReader(bytes, start, end)
  const flags = read(4) % 2 ** 24
  const trackId = read(4)
  const told = (flags & 0x1) === 0 ? undefined : read(4) * 2 ** 32 + read(4)
  if (told !== undefined) cursor.shift ??= shiftOf(told, dataOffset, cursor.moof)
  const base = told === undefined ? undefined : told + (cursor.shift ?? 0)
  const known = defaults.get(trackId) ?? NO_DEFAULTS
  const optional = (flag: number, fallback: number) => ((flags & flag) === 0 ? fallback : read(4))
  const isBehindMoof = (flags & 0x2_00_00) !== 0
  return {
    trackId,
    base: base ?? (isBehindMoof ? cursor.moof.start : cursor.end),
    description: optional(0x2, known.description),
    durationTicks: optional(0x8, known.durationTicks),
    sizeBytes: optional(0x10, known.sizeBytes),
    flags: optional(0x20, known.flags),
    mostOffsetTicks: known.mostOffsetTicks,
  }
}

/**
 * By how much a fragment has moved since its base_data_offset was written: behind another file, or where bytes in front of
 * it were lost. Then its data lies right behind it, as in the file it was written to.
 */
function shiftOf(base: number, dataOffset: number | undefined, { start, end }: Box): number {
  const behindHead = start + (dataOffset ?? 0) - end
  return MDAT_HEAD_BYTES.includes(behindHead) ? start - base : 0
}

const MDAT_HEAD_BYTES = [8, 16]

/** tfdt (8.8.12). Above 2^53, times are exact to a few ticks, which at such clocks is less than a microsecond. */
function readDecodeTime(
  bytes: DataView,
  boxes: readonly InnerBox[],
): Pick<TrackSamples, 'decodeTicks'> {
  const tfdt = boxes.find(({ type }) => type === TYPE.tfdt)
  if (tfdt === undefined) return {}
  const read = fieldReader(bytes, tfdt.start, tfdt.end)
  const isLong = read(4) >= 2 ** 24
  const high = isLong ? read(4) : 0
  return { decodeTicks: high * 2 ** 32 + read(4) }
}

/** trun (8.8.8) up to its samples. */
interface RunHeader {
  flags: number
  count: number
  dataOffset?: number | undefined
  firstFlags?: number
  /** Position of the first sample's fields in the moof. */
  fieldsAt: number
}

const FIELD_FLAGS = [0x100, 0x200, 0x400, 0x800] as const

function parseRunHeader(bytes: DataView, { start, end }: InnerBox, cursor: DataCursor): RunHeader {
  const read = fieldReader(bytes, start, end)
  const flags = read(4) % 2 ** 24
  const count = read(4)
  const dataOffset = (flags & 0x1) === 0 ? undefined : read(4) | 0
  const firstFlags = (flags & 0x4) === 0 ? undefined : read(4)
  const fieldsAt =
    start + 8 + (dataOffset === undefined ? 0 : 4) + (firstFlags === undefined ? 0 : 4)
  const sampleBytes = 4 * FIELD_FLAGS.filter((flag) => (flags & flag) !== 0).length
  cursor.samples += count
  if (fieldsAt + count * sampleBytes > end || cursor.samples > MAX_FRAGMENT_SAMPLES) {
    throw brokenBox('trun', cursor.moof.start + start, `claims ${count} samples`)
  }
  return {
    flags,
    count,
    fieldsAt,
    ...(dataOffset !== undefined && { dataOffset }),
    ...(firstFlags !== undefined && { firstFlags }),
  }
}

interface RunPlan extends RunHeader {
  header: TrackHeader
  /** Number of the first sample in the traf. */
  first: number
  position: number
}

/** Fills in the samples of a trun; answers the position behind the last. */
function fillRun(bytes: DataView, plan: RunPlan, samples: TrackSamples): number {
  const { flags, count, header, first } = plan
  let { position, fieldsAt: at } = plan
  const field = (flag: number, fallback: number) => {
    if ((flags & flag) === 0) return fallback
    at += 4
    return bytes.getUint32(at - 4)
  }
  for (let i = first; i < first + count; i += 1) {
    samples.durations[i] = durationTicks(field(0x100, header.durationTicks))
    const size = field(0x200, header.sizeBytes)
    const own = field(0x400, header.flags)
    const offset = compositionTicks(field(0x800, 0))
    samples.compositionOffsets[i] = Math.abs(offset) <= header.mostOffsetTicks ? offset : 0
    samples.sizes[i] = size
    samples.offsets[i] = position
    samples.keys[i] = isKey(i === first ? (plan.firstFlags ?? own) : own) ? 1 : 0
    position += size
  }
  return position
}

/** Sample flags (8.8.3.1): sample_is_non_sync_sample, and sample_depends_on = 1 (others are needed). */
function isKey(flags: number): boolean {
  return (flags & 0x0001_0000) === 0 && ((flags >>> 24) & 3) !== 1
}

/** The samples up to the first that does not lie wholly before `end`. */
function samplesBefore(samples: TrackSamples, end: number): TrackSamples {
  const isInside = (offset: number, at: number) =>
    offset >= 0 && offset + (samples.sizes[at] ?? 0) <= end
  const outside = samples.offsets.findIndex((offset, at) => !isInside(offset, at))
  return outside < 0 ? samples : sliceSamples(samples, 0, outside)
}

/** Samples `from` to `to`. The decode time is that of the first of them, where it is known. */
export function sliceSamples(samples: TrackSamples, from: number, to: number): TrackSamples {
  const { decodeTicks, trackId, description } = samples
  const before = samples.durations.subarray(0, from).reduce((sum, ticks) => sum + ticks, 0)
  return {
    trackId,
    description,
    ...(decodeTicks !== undefined && { decodeTicks: decodeTicks + before }),
    sizes: samples.sizes.subarray(from, to),
    offsets: samples.offsets.subarray(from, to),
    durations: samples.durations.subarray(from, to),
    compositionOffsets: samples.compositionOffsets.subarray(from, to),
    keys: samples.keys.subarray(from, to),
  }
}

/** Reads big-endian 32-bit fields one after the other. */
function fieldReader(bytes: DataView, start: number, end: number): (size: 4) => number {
  let at = start
  return (size) => {
    if (at + size > end) throw brokenBox('moof', start, 'has a part that is too small')
    at += size
    return bytes.getUint32(at - size)
  }
}
