// Finds the split points of a video track: key frames, changes of the codec configuration, and
// forced splits where both are far apart.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { SPLIT_DISCONTINUITY, SPLIT_FORCED, SPLIT_KEY_FRAME } from '../../media-index.ts'
import { RULES } from '../../timeline/timeline-rules.ts'
import { CursorRecorder } from '../sample-tables/cursor-recorder.ts'
import { FORCED_SAMPLES } from '../mp4-limits.ts'
import type { CursorTable } from '../mp4-source.ts'
import type { SampleSurvey } from '../sample-tables/sample-map.ts'
import { SyncWalk } from '../sample-tables/sync-walk.ts'
import { type TimeExtent, TimeWalk } from '../sample-tables/time-walk.ts'

/** Split points of a video track. Times in ticks of the file, edit list not applied. */
export interface VideoSplitPoints {
  cursors: CursorTable
  /** Presentation times, strictly increasing. */
  presentationTicks: number[]
  flags: number[]
  /** Sample description at each split point, from 0. */
  descriptions: number[]
  extent: TimeExtent
}

/** Walks the track. Its first sample is a split point even if it is not a key frame. */
export async function findVideoSplitPoints(
  file: OpenFile,
  survey: SampleSurvey,
  { timescale, signal }: { timescale: number; signal: AbortSignal },
): Promise<VideoSplitPoints> {
  const { map, changes } = survey
  const walk = new TimeWalk(file, map, signal)
  const syncs = new SyncWalk(file, map.tables.syncs, signal)
  await walk.open()
  const minTicks = RULES.mp4.keyFrameSeconds * timescale
  const recorder = new CursorRecorder(walk)
  const presentationTicks: number[] = []
  const flags: number[] = []
  const descriptions: number[] = []
  let change = 0
  let lastTicks = -Infinity
  /** The last split point begins with its frame that is shown first, such as a leading frame. */
  const settleLast = () => {
    const last = presentationTicks.length - 1
    const after = (presentationTicks[last - 1] ?? -Infinity) + 1
    const shown = Math.min(walk.takeEarliest(), lastTicks)
    if (last >= 0) presentationTicks[last] = Math.max(after, shown)
  }
  while (walk.sample < map.sampleCount) {
    await syncs.to(walk.sample)
    const isChange = changes[change]?.sample === walk.sample
    const isKey = syncs.sample === walk.sample
    const ticks = walk.presentationTicks
    const isForced = !isKey && !isChange
    if (isChange || isForced || ticks >= lastTicks + minTicks) {
      if (isChange) change += 1
      settleLast()
      lastTicks = Math.max(ticks, lastTicks + 1)
      recorder.record(syncs.entry)
      presentationTicks.push(lastTicks)
      descriptions.push(changes[change - 1]?.description ?? 0)
      const isDiscontinuity = isChange && recorder.length > 1
      flags.push(
        (isKey ? SPLIT_KEY_FRAME : 0) |
          (isDiscontinuity ? SPLIT_DISCONTINUITY : 0) |
          (isForced ? SPLIT_FORCED : 0),
      )
    }
    await toNextCandidate(walk, syncs, {
      end: changes[change]?.sample ?? map.sampleCount,
      minTicks,
      forcedTicks: RULES.mp4.forcedSeconds * timescale,
    })
  }
  settleLast()
  const extent = walk.wholeExtent()
  return { cursors: recorder.finish(), presentationTicks, flags, descriptions, extent }
}

/**
 * Advances to the next key frame or forced split, at most to sample `end`. If every sample is a key
 * frame, advances by the minimum distance.
 */
async function toNextCandidate(
  walk: TimeWalk,
  syncs: SyncWalk,
  { end, minTicks, forcedTicks }: { end: number; minTicks: number; forcedTicks: number },
): Promise<void> {
  if (syncs.isEverySample) {
    await walk.toTime(walk.decodeTicks + Math.max(minTicks, 1), end)
    return
  }
  await syncs.to(walk.sample + 1)
  const target = Math.min(syncs.sample, end)
  const latest = walk.sample + FORCED_SAMPLES
  const latestTicks = walk.decodeTicks + forcedTicks
  while (walk.sample < Math.min(target, latest) && walk.decodeTicks < latestTicks) {
    await walk.toSample(Math.min(target, latest, walk.sample + SAMPLES_PER_CHECK))
  }
}

/** Distance of the checks whether a forced split is due. */
const SAMPLES_PER_CHECK = 1000
