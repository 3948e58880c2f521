// What a segment's tracks are filled with where they have gaps: found in the segments around it, and read only then.
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME } from '../../media/media-index.ts'
import type { SplitPointTable, KeyFrame } from '../../media/media-index.ts'
import type { SampleRun } from '../../media/media-reader.ts'
import type { OpenFile } from '../../storage/storage.ts'
import type { FilledTracks } from './fill-tracks.ts'
import type { IndexedRecording } from '../playlist/indexed-recording.ts'
import type { PlannedSegment } from '../playlist/segment-plan.ts'
import { servedInitTracks, servedAudio } from './served-tracks.ts'

/** The segment to fill. */
export interface FilledSegment {
  recording: IndexedRecording
  file: OpenFile
  number: number
  range: PlannedSegment
  tracks?: readonly number[]
}

export function segmentFilling(segment: FilledSegment): FilledTracks {
  const { recording, range, tracks } = segment
  const audio = servedAudio(recording.index, tracks)
  return {
    inits: servedInitTracks(recording, range.from, tracks) ?? [],
    audio: audio?.track,
    readStill: async () => readStill(segment),
    readAudioBefore: async () =>
      audio === undefined ? undefined : readAudioBefore(segment, audio.number),
  }
}

/** A picture for a segment without any. */
async function readStill({ recording, file, range }: FilledSegment): Promise<KeyFrame | undefined> {
  const key = lastKeySplitPoint(recording.index.splitPoints, range.from)
  if (key === undefined) return undefined
  return recording.reader.readKeyFrame(file, recording.index, key)
}

/** The sound of the segment in front, where there is one without a break in between. */
async function readAudioBefore(
  { recording, file, number, range }: FilledSegment,
  track: number,
): Promise<SampleRun | undefined> {
  const before = recording.plan.segments[number - 1]
  if (range.isBreak || before === undefined) return undefined
  const { from, to } = before
  const content = await recording.reader.readSegment(file, recording.index, {
    from,
    to,
    tracks: [track],
  })
  return content.kind === 'samples' ? content.runs[0] : undefined
}

/** The last key frame before a cut that is shown with the same init; undefined where there is none. */
export function lastKeySplitPoint(
  { flags }: SplitPointTable,
  splitPoint: number,
): number | undefined {
  for (let at = splitPoint; at >= 0; at -= 1) {
    const here = flags[at] ?? 0
    if ((here & SPLIT_KEY_FRAME) !== 0) return at
    if ((here & SPLIT_DISCONTINUITY) !== 0) return undefined
  }
  return undefined
}
