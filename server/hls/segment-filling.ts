// What a segment's tracks are filled with where they have gaps: found in the segments around it, and read only then.
import { CUT_BREAK, CUT_KEY } from '../media/media-index.ts'
import type { CutTable, KeyFrame } from '../media/media-index.ts'
import type { SampleRun } from '../media/media-reader.ts'
import type { OpenFile } from '../storage/storage.ts'
import type { FilledTracks } from './fill-tracks.ts'
import type { IndexedRecording } from './indexed-recording.ts'
import type { PlannedSegment } from './segment-plan.ts'
import { servedInitTracks, servedSound } from './served-tracks.ts'

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
  const sound = servedSound(recording.index, tracks)
  return {
    inits: servedInitTracks(recording, range.from, tracks) ?? [],
    sound: sound?.track,
    readStill: async () => readStill(segment),
    readSoundBefore: async () =>
      sound === undefined ? undefined : readSoundBefore(segment, sound.number),
  }
}

/** A picture for a segment without any. */
async function readStill({ recording, file, range }: FilledSegment): Promise<KeyFrame | undefined> {
  const key = lastKeyCut(recording.index.cuts, range.from)
  if (key === undefined) return undefined
  return recording.reader.readKeyFrame(file, recording.index, key)
}

/** The sound of the segment in front, where there is one without a break in between. */
async function readSoundBefore(
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
export function lastKeyCut({ flags }: CutTable, cut: number): number | undefined {
  for (let at = cut; at >= 0; at -= 1) {
    const here = flags[at] ?? 0
    if ((here & CUT_KEY) !== 0) return at
    if ((here & CUT_BREAK) !== 0) return undefined
  }
  return undefined
}
