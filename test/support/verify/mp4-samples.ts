// Reads a recording's samples back through a reader, segment by segment, like a client of the
// server.
import { createHash } from 'node:crypto'
import { readExactly } from '../../../server/storage/recordings/read-exactly.ts'
import type { SplitPointRange, MediaIndex } from '../../../server/media/media-index.ts'
import type { MediaReader, SampleRun } from '../../../server/media/media-reader.ts'
import type { OpenFile } from '../../../server/storage/recordings/storage.ts'

/** One sample of a segment; times in seconds of the session. */
export interface ServedSample {
  offset: number
  sizeBytes: number
  sha1: string
  ptsSeconds: number
  dtsSeconds: number
  isKey: boolean
  /** First split point of the segment. */
  splitPoint: number
}

/** Every range of `cutsEach` cuts, in order. */
export function rangesOf(index: MediaIndex, splitPointsPerSegment: number): SplitPointRange[] {
  const count = index.splitPoints.startTicks.length
  return Array.from({ length: Math.ceil(count / splitPointsPerSegment) }, (_, at) => {
    return {
      from: at * splitPointsPerSegment,
      to: Math.min((at + 1) * splitPointsPerSegment, count),
    }
  })
}

/** The runs of one kind over the ranges, one for each range that has any. */
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

/** Samples of one kind, their bytes hashed. */
export async function readServedSamples(
  file: OpenFile,
  segments: { range: SplitPointRange; runs: SampleRun[] }[],
  kind: SampleRun['kind'],
): Promise<ServedSample[]> {
  const samples: ServedSample[] = []
  for (const { range, runs } of segments) {
    for (const run of runs.filter((each) => each.kind === kind)) {
      let ticks = run.firstDecodeTicks
      for (let at = 0; at < run.sizes.length; at += 1) {
        const offset = run.offsets?.[at] ?? NaN
        const sizeBytes = run.sizes[at] ?? NaN
        const bytes = await readExactly(file, offset, sizeBytes)
        samples.push({
          offset,
          sizeBytes,
          sha1: createHash('sha1').update(bytes).digest('hex'),
          ptsSeconds: (ticks + (run.compositionOffsets?.[at] ?? 0)) / run.timescale,
          dtsSeconds: ticks / run.timescale,
          isKey: run.syncs === undefined || run.syncs[at] === 1,
          splitPoint: range.from,
        })
        ticks += run.durations[at] ?? NaN
      }
    }
  }
  return samples
}
