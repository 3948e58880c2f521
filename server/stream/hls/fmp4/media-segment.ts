// The fMP4 media segment: a computed moof and mdat header before the recording's own bytes.
import { checkLimit } from '../../../base/errors.ts'
import type { Part, SampleRun } from '../../../media/media-reader.ts'
import { TRACK_IDS } from './init-segment.ts'
import { layOutData } from './media-data.ts'
import type { MediaData, PlacedRun } from './media-data.ts'

// ISO/IEC 14496-12 8.8.7, 8.8.8: flags of tfhd and trun.
const TFHD_DEFAULT_DURATION = 0x8
const TFHD_DEFAULT_FLAGS = 0x20
const TFHD_BASE_IS_MOOF = 0x20000
const TRUN_DATA_OFFSET = 0x1
const TRUN_FIRST_FLAGS = 0x4
const TRUN_DURATION = 0x100
const TRUN_SIZE = 0x200
const TRUN_COMPOSITION = 0x800

// ISO/IEC 14496-12 8.8.3.1: independent; or dependent and not a sync sample.
const SYNC_SAMPLE = 0x02000000
const DEPENDENT_SAMPLE = 0x01010000

/** trun's data offset is a signed 32-bit number. */
const MAX_SEGMENT_BYTES = 0x7fffffff
const MDAT_HEADER_BYTES = 8

/** Share of a segment's bytes that file order may cost in truns and gaps. */
const MAX_FILE_ORDER_COST = 0.02

/**
 * The segment's parts in send order: moof and mdat header, then the samples of all runs, in file
 * order if that costs little.
 *
 * @param sequence number of the fragment, from 1 (mfhd)
 * @throws UnplayableError if the samples exceed 2 GiB
 */
export function formatMediaSegment(runs: readonly SampleRun[], sequence: number): Part[] {
  const { layouts, trafSizes, data, headBytes, sizeBytes } = planSegment(runs)
  checkLimit('bytes-between-key-frames', MAX_SEGMENT_BYTES, sizeBytes)
  const writer = new HeadWriter(headBytes)
  writer.header('moof', headBytes - MDAT_HEADER_BYTES)
  writer.header('mfhd', 16)
  writer.words(0, sequence)
  layouts.forEach((layout, i) => {
    writeTraf(writer, layout, { sizeBytes: trafSizes[i] ?? 0, dataOffset: headBytes })
  })
  writer.header('mdat', MDAT_HEADER_BYTES + data.sizeBytes)
  return [{ kind: 'bytes', bytes: writer.bytes }, ...data.parts]
}

/** Decode time of the first sample of a segment that `formatMediaSegment` has laid out. */
export function readFirstDecodeTicks(head: Uint8Array): number {
  const view = new DataView(head.buffer, head.byteOffset, head.length)
  // After the headers of moof, traf and tfdt, and the boxes mfhd and tfhd.
  const tfhdAt = 8 + 16 + 8
  const at = tfhdAt + view.getUint32(tfhdAt) + 12
  return view.getUint32(at) * 0x100000000 + view.getUint32(at + 4)
}

interface SegmentLayout {
  data: MediaData
  layouts: RunLayout[]
  trafSizes: number[]
  /** Size of the moof and the mdat header. */
  headBytes: number
  sizeBytes: number
}

function planSegment(runs: readonly SampleRun[]): SegmentLayout {
  const byTrack = layOutSegment(layOutData(runs, 'track'))
  const byFile = layOutSegment(layOutData(runs, 'file'))
  return byFile.sizeBytes <= byTrack.sizeBytes * (1 + MAX_FILE_ORDER_COST) ? byFile : byTrack
}

function layOutSegment(data: MediaData): SegmentLayout {
  const layouts = data.runs.map(layOutRun)
  const trafSizes = layouts.map(trafBytes)
  const headBytes = 8 + 16 + trafSizes.reduce((sum, size) => sum + size, 0) + MDAT_HEADER_BYTES
  return { data, layouts, trafSizes, headBytes, sizeBytes: headBytes + data.sizeBytes }
}

interface RunLayout extends PlacedRun {
  /** Samples that start a trun: key frames, and those that do not follow the previous sample. */
  trunStarts: number[]
  /** trun flags of the fields that each sample has. */
  sampleFlags: number
  /** Undefined if the samples have different durations. */
  constantDuration: number | undefined
}

function layOutRun({ run, positions }: PlacedRun): RunLayout {
  const trunStarts: number[] = []
  let end = -1
  positions.forEach((position, i) => {
    if (position !== end || run.syncs?.[i] === 1) trunStarts.push(i)
    end = position + (run.sizes[i] ?? 0)
  })
  const first = run.durations[0] ?? 0
  const constantDuration = run.durations.every((duration) => duration === first) ? first : undefined
  return {
    run,
    positions,
    trunStarts,
    constantDuration,
    sampleFlags:
      TRUN_SIZE |
      (constantDuration === undefined ? TRUN_DURATION : 0) |
      (run.compositionOffsets === undefined ? 0 : TRUN_COMPOSITION),
  }
}

function trafBytes(layout: RunLayout): number {
  return (
    8 +
    tfhdBytes(layout) +
    TFDT_BYTES +
    layout.trunStarts.length * trunHeadBytes(layout) +
    samplesBytes(layout)
  )
}

const TFDT_BYTES = 20

function tfhdBytes({ constantDuration }: RunLayout): number {
  return 20 + (constantDuration === undefined ? 0 : 4)
}

function trunHeadBytes({ run }: RunLayout): number {
  return run.syncs === undefined ? 20 : 24
}

function samplesBytes({ run, sampleFlags }: RunLayout): number {
  return run.sizes.length * sampleBytes(sampleFlags)
}

function sampleBytes(flags: number): number {
  return 4 + (flags & TRUN_DURATION ? 4 : 0) + (flags & TRUN_COMPOSITION ? 4 : 0)
}

function writeTraf(
  writer: HeadWriter,
  layout: RunLayout,
  { sizeBytes, dataOffset }: { sizeBytes: number; dataOffset: number },
): void {
  const { run, positions, constantDuration } = layout
  writer.header('traf', sizeBytes)
  writer.header('tfhd', tfhdBytes(layout))
  writer.words(
    TFHD_BASE_IS_MOOF |
      TFHD_DEFAULT_FLAGS |
      (constantDuration === undefined ? 0 : TFHD_DEFAULT_DURATION),
    TRACK_IDS[run.kind],
  )
  if (constantDuration !== undefined) writer.words(constantDuration)
  writer.words(run.syncs === undefined ? SYNC_SAMPLE : DEPENDENT_SAMPLE)
  writer.header('tfdt', TFDT_BYTES)
  writer.words(0x01000000)
  writer.uint64(run.firstDecodeTicks)
  layout.trunStarts.forEach((start, i) => {
    writeTrun(writer, layout, {
      start,
      end: layout.trunStarts[i + 1] ?? run.sizes.length,
      dataOffset: dataOffset + (positions[start] ?? 0),
    })
  })
}

function writeTrun(
  writer: HeadWriter,
  layout: RunLayout,
  { start, end, dataOffset }: { start: number; end: number; dataOffset: number },
): void {
  const { run, sampleFlags } = layout
  const { syncs, sizes, durations, compositionOffsets } = run
  const firstFlags = syncs === undefined ? 0 : TRUN_FIRST_FLAGS
  writer.header('trun', trunHeadBytes(layout) + (end - start) * sampleBytes(sampleFlags))
  // Version 1: composition offsets are signed.
  writer.words(0x01000000 | TRUN_DATA_OFFSET | firstFlags | sampleFlags, end - start, dataOffset)
  if (syncs !== undefined) writer.words(syncs[start] === 1 ? SYNC_SAMPLE : DEPENDENT_SAMPLE)
  for (let i = start; i < end; i += 1) {
    if (sampleFlags & TRUN_DURATION) writer.words(durations[i] ?? 0)
    writer.words(sizes[i] ?? 0)
    if (compositionOffsets !== undefined) writer.words(compositionOffsets[i] ?? 0)
  }
}

/** Appends 32-bit words to a buffer of known size. */
class HeadWriter {
  readonly bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(sizeBytes: number) {
    this.bytes = Buffer.allocUnsafe(sizeBytes)
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, sizeBytes)
  }

  header(type: string, sizeBytes: number): void {
    this.words(sizeBytes)
    for (let i = 0; i < 4; i += 1) this.#view.setUint8(this.#at + i, type.charCodeAt(i))
    this.#at += 4
  }

  /** Values may be signed or unsigned: the 32 bits are the same. */
  words(...values: number[]): void {
    for (const value of values) {
      this.#view.setUint32(this.#at, value)
      this.#at += 4
    }
  }

  uint64(value: number): void {
    this.words(Math.floor(value / 0x100000000), value % 0x100000000)
  }
}
