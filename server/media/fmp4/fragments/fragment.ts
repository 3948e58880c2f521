// Parses movie fragments (moof, ISO/IEC 14496-12 8.8): sample locations, times and key frames.
import { type Box, invalidBox } from '../../mp4/boxes/box.ts'
import type { FragmentDefaults } from '../../mp4/boxes/fragment-defaults.ts'
import { compositionTicks, durationTicks } from '../../mp4/sample-tables/run-cursor.ts'
import { MAX_FRAGMENT_SAMPLES } from '../fmp4-limits.ts'

/** One moof, or the samples of a moov box. */
export interface Fragment {
  start: number
  end: number
  /** In file order. */
  runs: TrackSamples[]
  /** The file does not contain all samples: it is growing, or truncated. */
  isTruncated: boolean
}

/** Samples of one traf, in decode order, as parallel arrays. Times in ticks of the file. */
export interface TrackSamples {
  trackId: number
  /** Sample entry, from 1. */
  description: number
  /**
   * Decode time of the first sample (tfdt); absent if the time continues from the previous
   * fragment.
   */
  decodeTicks?: number
  sizes: Uint32Array
  offsets: Float64Array
  durations: Uint32Array
  compositionOffsets: Int32Array
  /** 1 for key frames. */
  keys: Uint8Array
  /** Parameter sets in the key frames, by sample; absent if the track has none in its samples. */
  sets?: ReadonlyMap<number, Uint8Array[]>
}

/** Defaults of a track. */
export interface TrackDefaults extends FragmentDefaults {
  /** Larger composition offsets, in either direction, are ignored. */
  maxOffsetTicks: number
}

export interface FragmentContext {
  /** trex, by track; tracks without it are ignored. */
  defaults: ReadonlyMap<number, TrackDefaults>
  /** Samples after it are not written yet, or truncated. */
  fileBytes: number
  /** Samples after it are corrupt. Infinity if unknown. */
  dataEnd: number
}

const TYPE = {
  traf: 0x74_72_61_66,
  tfhd: 0x74_66_68_64,
  tfdt: 0x74_66_64_74,
  trun: 0x74_72_75_6e,
} as const

/** Parses a complete moof box. Throws `unplayable` if a box in it contradicts itself. */
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

/** A box in the moof; positions are relative to the moof. */
interface InnerBox {
  type: number
  start: number
  end: number
}

/** Default position of data: after the data of the previous traf (8.8.7.1). */
interface DataCursor {
  moof: Box
  end: number
  /** Correction of absolute positions in the moof; undefined before the first one. */
  shift: number | undefined
  /** Samples so far, limited by MAX_FRAGMENT_SAMPLES. */
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
    if (size < 8 || at + size > to)
      throw invalidBox({ type: 'moof', start: at }, 'child-size-invalid', size)
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
  const runHeaders = truns.map((trun) => parseRunHeader(bytes, trun, context.cursor))
  const header = parseTrackHeader(bytes, tfhd, {
    ...context,
    dataOffset: runHeaders[0]?.dataOffset,
  })
  const count = runHeaders.reduce((sum, runHeader) => sum + runHeader.count, 0)
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
  for (const runHeader of runHeaders) {
    if (runHeader.dataOffset !== undefined) position = header.base + runHeader.dataOffset
    // A data position in the moof itself means the mdat after it.
    const { moof } = context.cursor
    if (position >= moof.start && position < moof.end) position = moof.end + 8
    position = fillRun(bytes, { ...runHeader, header, first, position }, samples)
    first += runHeader.count
  }
  context.cursor.end = position
  return context.defaults.has(header.trackId) ? samples : undefined
}

/** tfhd (8.8.7), with the defaults of trex. */
interface TrackHeader extends TrackDefaults {
  trackId: number
  base: number
}

const NO_DEFAULTS: TrackDefaults = {
  description: 1,
  durationTicks: 0,
  sizeBytes: 0,
  flags: 0,
  maxOffsetTicks: 0,
}

function parseTrackHeader(
  bytes: DataView,
  { start, end }: InnerBox,
  { defaults, cursor, dataOffset }: TrafContext & Pick<RunHeader, 'dataOffset'>,
): TrackHeader {
  const read = fieldReader(bytes, start, end)
  const flags = read(4) % 2 ** 24
  const trackId = read(4)
  const baseDataOffset = (flags & 0x1) === 0 ? undefined : read(4) * 2 ** 32 + read(4)
  if (baseDataOffset !== undefined)
    cursor.shift ??= shiftOf(baseDataOffset, dataOffset, cursor.moof)
  const base = baseDataOffset === undefined ? undefined : baseDataOffset + (cursor.shift ?? 0)
  const trackDefaults = defaults.get(trackId) ?? NO_DEFAULTS
  const optional = (flag: number, fallback: number) => ((flags & flag) === 0 ? fallback : read(4))
  const isMoofRelative = (flags & 0x2_00_00) !== 0
  return {
    trackId,
    base: base ?? (isMoofRelative ? cursor.moof.start : cursor.end),
    description: optional(0x2, trackDefaults.description),
    durationTicks: optional(0x8, trackDefaults.durationTicks),
    sizeBytes: optional(0x10, trackDefaults.sizeBytes),
    flags: optional(0x20, trackDefaults.flags),
    maxOffsetTicks: trackDefaults.maxOffsetTicks,
  }
}

/**
 * How far a fragment was moved after its base_data_offset was written (files concatenated, or
 * earlier bytes lost). Its data then directly follows it, as in the original file.
 */
function shiftOf(base: number, dataOffset: number | undefined, { start, end }: Box): number {
  const dataStart = start + (dataOffset ?? 0) - end
  return MDAT_HEADER_BYTES.includes(dataStart) ? start - base : 0
}

const MDAT_HEADER_BYTES = [8, 16]

/**
 * tfdt (8.8.12). Above 2^53, times lose a few ticks, which is less than a microsecond at such
 * timescales.
 */
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

/** trun (8.8.8) before its samples. */
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
    throw invalidBox({ type: 'trun', start: cursor.moof.start + start }, 'too-many-entries', count)
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

/** Parses the samples of a trun; returns the data position after the last. */
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
    const sampleFlags = field(0x400, header.flags)
    samples.compositionOffsets[i] = compositionTicks(field(0x800, 0), header.maxOffsetTicks)
    samples.sizes[i] = size
    samples.offsets[i] = position
    samples.keys[i] = isKey(i === first ? (plan.firstFlags ?? sampleFlags) : sampleFlags) ? 1 : 0
    position += size
  }
  return position
}

/**
 * Sample flags (8.8.3.1): sample_is_non_sync_sample, and sample_depends_on = 1 (depends on others).
 */
function isKey(flags: number): boolean {
  return (flags & 0x0001_0000) === 0 && ((flags >>> 24) & 3) !== 1
}

/** The samples before the first one that exceeds `end`. */
function samplesBefore(samples: TrackSamples, end: number): TrackSamples {
  const isInside = (offset: number, at: number) =>
    offset >= 0 && offset + (samples.sizes[at] ?? 0) <= end
  const outside = samples.offsets.findIndex((offset, at) => !isInside(offset, at))
  return outside < 0 ? samples : sliceSamples(samples, 0, outside)
}

/** A range of samples, with the decode time of the first of them if known. */
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

/** Reads consecutive big-endian 32-bit fields. */
function fieldReader(bytes: DataView, start: number, end: number): (size: 4) => number {
  let at = start
  return (size) => {
    if (at + size > end) throw invalidBox({ type: 'moof', start }, 'child-too-small')
    at += size
    return bytes.getUint32(at - size)
  }
}
