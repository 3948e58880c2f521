// Creates the body of a segment: reads its samples, fills gaps, and lays it out.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { segmentBody } from '../../delivery/segment-body.ts'
import type { SegmentBody } from '../../delivery/segment-body.ts'
import { secondsFromTicks, SPLIT_DISCONTINUITY } from '../../../media/media-index.ts'
import type { KeyFrame } from '../../../media/media-index.ts'
import type { InitTrack, Part, SampleRun } from '../../../media/media-reader.ts'
import { formatMediaSegment } from '../fmp4/media-segment.ts'
import { sliceRuns } from '../fmp4/slice-run.ts'
import type { PlannedSegment } from '../playlist/segment-plan.ts'
import type { EncodedRun } from './encoded-video.ts'
import { fillTracks } from './fill-tracks.ts'
import type { FilledTracks } from './fill-tracks.ts'
import { lastKeySplitPoint } from './last-key-split-point.ts'
import { keyFramesOf } from './key-frame-runs.ts'
import type { PlannedRecording } from './planned-recording.ts'
import { readTrackRun } from './read-samples.ts'
import { readServedSegment, servedAudio, servedInitTracks } from './served-tracks.ts'
import type { ServedSegment } from './served-tracks.ts'
import type { TranscodedAudio } from './transcoded-audio.ts'

export interface SegmentRequest extends ServedSegment {
  number: number
  range: PlannedSegment
  /** The frames of video that are sent. */
  frames: 'all' | 'key'
  /** Video in place of the recorded one, which is not among the tracks. */
  video?: { init: InitTrack; encode: (this: void) => Promise<EncodedRun> } | undefined
}

/** The segment before encryption. */
export async function createSegment(
  recording: PlannedRecording,
  segment: SegmentRequest,
  transcodedAudio: TranscodedAudio,
): Promise<SegmentBody> {
  const { number, range, frames, video } = segment
  const encoded = await video?.encode()
  const content = await readServedSegment(recording, segment, transcodedAudio)
  if (content.kind === 'ts') return segmentBody(content.parts)
  const { timescale } = recording.plan
  const endSeconds = secondsFromTicks(range.endTicks, timescale)
  const chosen = frames === 'all' ? content.runs : keyFramesOf(content.runs, endSeconds)
  const sent = encoded === undefined ? chosen : [encoded, ...chosen]
  const runs = await fillTracks(sent, filledTracks(recording, segment), {
    startSeconds: secondsFromTicks(range.startTicks, timescale),
    endSeconds,
    start: number === 0 || range.followsDiscontinuity ? 'new' : 'joined',
    isLast: range.to === recording.index.splitPoints.flags.length,
  })
  const parts: Part[] = []
  // A long GOP becomes several fragments, because each is formatted in one turn.
  for (const slice of sliceRuns(runs, FRAGMENT_SAMPLES)) {
    if (parts.length > 0) await nextTurn()
    for (const part of formatMediaSegment(slice, number + 1)) parts.push(part)
  }
  const body = segmentBody(parts)
  const isLasting = content.isLasting !== false && encoded?.isLasting !== false
  return isLasting ? body : { ...body, isLasting: false }
}

/** Samples of a track in one fragment: minutes. */
const FRAGMENT_SAMPLES = 8192

function filledTracks(recording: PlannedRecording, segment: SegmentRequest): FilledTracks {
  const { range, tracks, video } = segment
  const audio = servedAudio(recording.index, tracks)
  return {
    inits: [
      ...(video === undefined ? [] : [video.init]),
      ...(servedInitTracks(recording, range.from, tracks) ?? []),
    ],
    audio: audio?.track,
    readKeyFrame: async () => readKeyFrame(recording, segment),
    readAudioBefore: async () =>
      audio === undefined ? undefined : readAudioBefore(recording, segment, audio.number),
  }
}

/** Of key frames before a segment that are unreadable, this many are skipped. */
const MAX_KEY_FRAMES_TRIED = 8

/** The last readable key frame before the segment. */
async function readKeyFrame(
  { index, reader }: PlannedRecording,
  { file, range }: SegmentRequest,
): Promise<KeyFrame | undefined> {
  let splitPoint = lastKeySplitPoint(index.splitPoints, range.from)
  for (let tries = 0; splitPoint !== undefined && tries < MAX_KEY_FRAMES_TRIED; tries += 1) {
    const keyFrame = await reader.readKeyFrame(file, index, splitPoint)
    if (keyFrame !== undefined) return keyFrame
    const isFirst = ((index.splitPoints.flags[splitPoint] ?? 0) & SPLIT_DISCONTINUITY) !== 0
    splitPoint = isFirst ? undefined : lastKeySplitPoint(index.splitPoints, splitPoint - 1)
  }
  return undefined
}

/** Audio of the previous segment; undefined after a discontinuity. */
async function readAudioBefore(
  recording: PlannedRecording,
  { file, number, range }: SegmentRequest,
  track: number,
): Promise<SampleRun | undefined> {
  const previous = recording.plan.segments[number - 1]
  if (range.followsDiscontinuity || previous === undefined || previous.isGap === true) {
    return undefined
  }
  return readTrackRun(recording, file, { track, range: previous })
}
