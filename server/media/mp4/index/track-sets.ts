// Finds the parameter sets in the key frames of a video track.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { createSetsScan, finishSets, takeFrameSets } from '../../codec/parameter-sets.ts'
import type { SegmentSets, SetsScan } from '../../codec/parameter-sets.ts'
import type { SampleRun } from '../../media-reader.ts'
import type { Mp4Decoder, Mp4Track } from '../mp4-source.ts'
import { readSampleRun } from '../sample-tables/read-sample-run.ts'
import {
  hasSetsInBand,
  MAX_SEARCHED_FRAMES,
  readSampleSets,
  recordedBy,
} from '../sample-entries/sample-sets.ts'

/** Reads the start of each key frame, if samples of the track may contain parameter sets. */
export async function readTrackSets(
  file: OpenFile,
  track: Mp4Track,
  signal: AbortSignal,
): Promise<SegmentSets | undefined> {
  const { cursors, descriptions, descriptionOfSplitPoint } = track
  if (!descriptions.some(({ decoder }) => hasSetsInBand(decoder))) return undefined
  const scan = createSetsScan()
  let inForce: Mp4Decoder | undefined
  let left = MAX_SEARCHED_FRAMES
  for (let splitPoint = 0; splitPoint < cursors.samples.length; splitPoint += 1) {
    signal.throwIfAborted()
    const decoder = descriptions[descriptionOfSplitPoint?.[splitPoint] ?? 0]?.decoder
    if (decoder !== inForce) scan.inForce = []
    inForce = decoder
    if (!hasSetsInBand(decoder) || left <= 0) continue
    const run = await readSampleRun(file, track, { from: splitPoint, to: splitPoint + 1 })
    if (run !== undefined) left -= await takeRun(file, scan, { run, decoder, splitPoint, left })
  }
  return finishSets(scan)
}

interface TakenRun {
  run: SampleRun
  decoder: Parameters<typeof readSampleSets>[1]
  splitPoint: number
  /** Key frames that may still be read. */
  left: number
}

/** Returns the number of key frames read. */
async function takeRun(
  file: OpenFile,
  scan: SetsScan,
  { run, decoder, splitPoint, left }: TakenRun,
): Promise<number> {
  const { codec } = decoder
  const { sets: recorded } = recordedBy(decoder)
  let count = 0
  for (let at = 0; at < run.sizes.length && count < left; at += 1) {
    if (run.syncs?.[at] === 0) continue
    const place = { offset: run.offsets?.[at] ?? 0, sizeBytes: run.sizes[at] ?? 0 }
    const own = await readSampleSets(file, decoder, place)
    takeFrameSets(scan, { codec, recorded, own }, at === 0 ? splitPoint : undefined)
    count += 1
  }
  return count
}
