// Reads a recording's samples back through a reader, segment by segment, like a client of the
// server.
import { createHash } from 'node:crypto'
import { readExactly } from '../../../server/storage/recordings/read-exactly.ts'
import type { SplitPointRange, MediaIndex } from '../../../server/media/media-index.ts'
import type { MediaReader, SampleRun, SegmentContent } from '../../../server/media/media-reader.ts'
import type { OpenFile } from '../../../server/storage/recordings/storage.ts'

/** One sample of a run; times in its ticks. */
export interface RunSample {
  sizeBytes: number
  /** NaN if the reader made its bytes. */
  offset: number
  /** Empty if they are in the file. */
  bytes: Uint8Array
  decodeTicks: number
  presentationTicks: number
  durationTicks: number
  isKey: boolean
}

/** One sample of a segment; times in seconds of the session. */
export interface ServedSample {
  kind: SampleRun['kind']
  sizeBytes: number
  sha1: string
  ptsSeconds: number
  dtsSeconds: number
  durationSeconds: number
  isKey: boolean
  /** First split point of the segment. */
  splitPoint: number
}

/** An index and its source. */
export interface IndexedFile {
  reader: MediaReader
  file: OpenFile
  index: MediaIndex
}

/** Every range of this many split points, in order. */
export function rangesOf(index: MediaIndex, splitPointsPerSegment: number): SplitPointRange[] {
  const count = index.splitPoints.startTicks.length
  return Array.from({ length: Math.ceil(count / splitPointsPerSegment) }, (_, at) => {
    return {
      from: at * splitPointsPerSegment,
      to: Math.min((at + 1) * splitPointsPerSegment, count),
    }
  })
}

/** The runs of each range. */
export async function readRuns(
  reader: MediaReader,
  { file, index }: { file: OpenFile; index: MediaIndex },
  ranges: SplitPointRange[],
): Promise<{ range: SplitPointRange; runs: SampleRun[] }[]> {
  const all: { range: SplitPointRange; runs: SampleRun[] }[] = []
  for (const range of ranges) {
    const content = await reader.readSegment(file, index, range)
    all.push({ range, runs: content.kind === 'samples' ? content.runs : [] })
  }
  return all
}

export function listSamples(run: SampleRun): RunSample[] {
  let decodeTicks = run.firstDecodeTicks
  let at = 0
  return Array.from(run.sizes, (sizeBytes, i) => {
    const durationTicks = run.durations[i] ?? NaN
    const sample = {
      sizeBytes,
      offset: run.offsets?.[i] ?? NaN,
      bytes: run.bytes?.subarray(at, at + sizeBytes) ?? new Uint8Array(),
      decodeTicks,
      presentationTicks: decodeTicks + (run.compositionOffsets?.[i] ?? 0),
      durationTicks,
      isKey: run.syncs?.[i] !== 0,
    }
    at += sizeBytes
    decodeTicks += durationTicks
    return sample
  })
}

/** When the samples of a run are shown, in seconds of the session. */
export function presentationSeconds(run: SampleRun): number[] {
  return listSamples(run).map(({ presentationTicks }) => presentationTicks / run.timescale)
}

/** Samples of one kind, or of all, their bytes hashed. */
export async function readServedSamples(
  file: OpenFile,
  segments: { range: SplitPointRange; runs: SampleRun[] }[],
  kind?: SampleRun['kind'],
): Promise<ServedSample[]> {
  const samples: ServedSample[] = []
  for (const { range, runs } of segments) {
    for (const run of runs.filter((each) => kind === undefined || each.kind === kind)) {
      for (const { sizeBytes, offset, isKey, ...times } of listSamples(run)) {
        const bytes = await readExactly(file, offset, sizeBytes)
        samples.push({
          kind: run.kind,
          sizeBytes,
          sha1: createHash('sha1').update(bytes).digest('hex'),
          ptsSeconds: times.presentationTicks / run.timescale,
          dtsSeconds: times.decodeTicks / run.timescale,
          durationSeconds: times.durationTicks / run.timescale,
          isKey,
          splitPoint: range.from,
        })
      }
    }
  }
  return samples
}

/** Positions in the file of a segment's samples, or of its MPEG-TS packets. */
export function segmentPlaces(content: SegmentContent): number[] {
  if (content.kind === 'samples') return content.runs.flatMap(({ offsets = [] }) => [...offsets])
  return content.parts.flatMap((part) => {
    if (part.kind === 'bytes') return []
    const packetBytes = part.packing === undefined ? 188 : 192
    const count = Math.ceil(part.length / packetBytes)
    return Array.from({ length: count }, (_, i) => part.offset + i * packetBytes)
  })
}
