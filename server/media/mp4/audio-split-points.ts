// Finds where each cut begins among an audio track's samples, and makes cuts of its own where there are no pictures.
import type { OpenFile } from '../../storage/storage.ts'
import { CursorRecorder } from './cursor-recorder.ts'
import { MAX_SPLIT_POINTS, RULES } from '../timeline/timeline-rules.ts'
import type { CursorTable } from './mp4-source.ts'
import type { SampleSurvey } from './sample-map.ts'
import { type TimeExtent, TimeWalk } from './time-walk.ts'

/** Sound is not cut again where less than this is left. */
const MIN_REST_SECONDS = 0.5

/** Where pictures cut the sound, in the audio track's ticks, edit list not applied. */
export interface FrameTimes {
  /** Presentation time of every cut but the first. */
  splitTicks: readonly number[]
  /** Where the pictures end; undefined where there are none. */
  endTicks: number | undefined
}

/** The cuts of an audio track, in the file's ticks, edit list not applied. */
export interface AudioSplitPoints {
  /** One for the first cut, for each of the pictures' cuts, and for each of `ownTicks`. */
  cursors: CursorTable
  /** Times of the cuts that are made for sound alone, strictly growing: behind the pictures, or all but the first. */
  ownTicks: number[]
  extent: TimeExtent
}

/**
 * Walks through the track. Sound belongs to the cut in whose time it begins; the first takes all that comes before
 * the second. Where sound goes on a second or more without pictures, it is cut about every second.
 */
export async function findAudioSplitPoints(
  file: OpenFile,
  { map, totalTicks }: SampleSurvey,
  plan: { timescale: number; frames: FrameTimes; signal: AbortSignal },
): Promise<AudioSplitPoints> {
  const { splitTicks, endTicks } = plan.frames
  const walk = new TimeWalk(file, map, plan.signal)
  await walk.open()
  const recorder = new CursorRecorder(walk)
  recorder.note()
  for (const ticks of splitTicks) {
    await walk.toTime(ticks)
    recorder.note()
  }
  const ownTicks: number[] = []
  const { step, rest } = audioSteps(totalTicks, plan.timescale)
  let next = endTicks ?? step
  const isWorthIt = endTicks === undefined || totalTicks - endTicks > step
  while (isWorthIt && totalTicks - next >= rest) {
    await walk.toTime(next)
    if (walk.sample === map.sampleCount) break
    recorder.note()
    ownTicks.push(walk.decodeTicks)
    next = walk.decodeTicks + step
  }
  await walk.toSample(map.sampleCount)
  return { cursors: recorder.finish(), ownTicks, extent: walk.extent }
}

/** Distances in ticks. Very long sound is cut less often, so that cuts stay within their bound. */
function audioSteps(totalTicks: number, timescale: number): { step: number; rest: number } {
  const step = Math.max(RULES.mp4.audioSeconds * timescale, totalTicks / (MAX_SPLIT_POINTS / 2))
  return { step, rest: MIN_REST_SECONDS * timescale }
}
