// Locates each split point in an audio track, and adds split points where there is no video.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { CursorRecorder } from '../sample-tables/cursor-recorder.ts'
import { MAX_SPLIT_POINTS } from '../../timeline/split-points.ts'
import { RULES } from '../../timeline/timeline-rules.ts'
import type { CursorTable } from '../mp4-source.ts'
import type { SampleSurvey } from '../sample-tables/sample-map.ts'
import { type TimeExtent, TimeWalk } from '../sample-tables/time-walk.ts'

/** No further split point if less audio than this remains. */
const MIN_REST_SECONDS = 0.5

/** Split points of the video, in ticks of the audio track, edit list not applied. */
export interface VideoSplitTimes {
  /** Presentation time of each split point except the first. */
  splitTicks: readonly number[]
  /** End of the video; undefined without video. */
  endTicks: number | undefined
}

/** Split points of an audio track, in ticks of the file, edit list not applied. */
export interface AudioSplitPoints {
  /** One for the first split point, for each one of the video, and for each of `audioOnlyTicks`. */
  cursors: CursorTable
  /**
   * Strictly increasing times of the split points added for audio: those after the end of the
   * video, or all but the first.
   */
  audioOnlyTicks: number[]
  extent: TimeExtent
}

/**
 * Walks the track. An audio sample belongs to the split point in whose interval it starts; the
 * first one also takes all earlier samples. Audio that lasts a second or more without video is
 * split about every second.
 */
export async function findAudioSplitPoints(
  file: OpenFile,
  { map, totalTicks }: SampleSurvey,
  plan: { timescale: number; videoTimes: VideoSplitTimes; signal: AbortSignal },
): Promise<AudioSplitPoints> {
  const { splitTicks, endTicks } = plan.videoTimes
  const walk = new TimeWalk(file, map, plan.signal)
  await walk.open()
  const recorder = new CursorRecorder(walk)
  recorder.record()
  for (const ticks of splitTicks) {
    await walk.toTime(ticks)
    recorder.record()
  }
  const audioOnlyTicks: number[] = []
  const { step, rest } = audioSteps(totalTicks, plan.timescale)
  let next = endTicks ?? step
  const isWorthIt = endTicks === undefined || totalTicks - endTicks > step
  while (isWorthIt && totalTicks - next >= rest) {
    await walk.toTime(next)
    if (walk.sample === map.sampleCount) break
    recorder.record()
    audioOnlyTicks.push(walk.decodeTicks)
    next = walk.decodeTicks + step
  }
  await walk.toSample(map.sampleCount)
  return { cursors: recorder.finish(), audioOnlyTicks, extent: walk.extent }
}

/** Distances in ticks. Very long audio is split less often, to stay below MAX_SPLIT_POINTS. */
function audioSteps(totalTicks: number, timescale: number): { step: number; rest: number } {
  const step = Math.max(RULES.mp4.audioSeconds * timescale, totalTicks / (MAX_SPLIT_POINTS / 2))
  return { step, rest: MIN_REST_SECONDS * timescale }
}
