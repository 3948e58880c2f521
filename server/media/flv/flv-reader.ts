// The reader of FLV (Adobe FLV 10.1, Enhanced RTMP): samples lie whole in its tags, and go into fMP4 as they are.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { videoSetUp } from '../codec/sample-entry.ts'
import type { KeyFrame, MediaIndex } from '../media-index.ts'
import type { InitTrack, MediaReader, SegmentContent, SegmentRange } from '../media-reader.ts'
import { readFlvIndex } from './flv-index.ts'
import { findKeyPicture, readSampleRuns, sectionAt, VIDEO_TIMESCALE } from './flv-segment.ts'
import type { FlvSetUp, FlvSource } from './flv-source.ts'

/** A reader without state: what it knows of a recording is in the index. */
export function createFlvReader(): MediaReader {
  return { index: readFlvIndex, readSegment, initTracks, readKeyFrame }
}

async function readSegment(
  file: OpenFile,
  index: MediaIndex,
  range: SegmentRange,
): Promise<SegmentContent> {
  const runs = await readSampleRuns(file, { source: sourceOf(index), cuts: index.cuts }, range)
  const kinds = wantedKinds(index, range.tracks)
  return { kind: 'samples', runs: runs.filter(({ kind }) => kinds.has(kind)) }
}

function initTracks(index: MediaIndex, cut: number, tracks?: readonly number[]): InitTrack[] {
  const source = sourceOf(index)
  const section = sectionAt(source, cut)
  const kinds = wantedKinds(index, tracks)
  const setUps = [section?.video, section?.sound].map((number) => {
    return number === undefined ? undefined : source.setUps[number]
  })
  return setUps.flatMap((setUp) => {
    const track = setUp && initTrack(setUp)
    return track !== undefined && kinds.has(track.kind) ? [track] : []
  })
}

function initTrack(setUp: FlvSetUp): InitTrack | undefined {
  if (setUp.kind === 'sound') {
    const { sampleRate: timescale, sampleEntry } = setUp
    return sampleEntry && { kind: 'audio', timescale, sampleEntry, width: 0, height: 0 }
  }
  const described = videoSetUp(setUp.codec, setUp)
  if (described === undefined) throw new AppError('failed', 'the index is damaged')
  const { sampleEntry, width, height } = described
  return { kind: 'video', timescale: VIDEO_TIMESCALE, sampleEntry, width, height }
}

async function readKeyFrame(
  file: OpenFile,
  index: MediaIndex,
  cut: number,
): Promise<KeyFrame | undefined> {
  const source = sourceOf(index)
  const number = sectionAt(source, cut)?.video
  const setUp = number === undefined ? undefined : source.setUps[number]
  if (setUp?.kind !== 'video') return undefined
  const data = await findKeyPicture(file, { source, cuts: index.cuts }, cut)
  if (data === undefined) return undefined
  const extradata = setUp.codec === 'vp9' ? undefined : setUp.config
  return { codec: setUp.codec, data, rotationDegrees: 0, ...(extradata && { extradata }) }
}

function wantedKinds(
  index: MediaIndex,
  tracks: readonly number[] | undefined,
): ReadonlySet<string | undefined> {
  const numbers = tracks ?? index.tracks.keys()
  return new Set(Array.from(numbers, (number) => index.tracks[number]?.kind))
}

function sourceOf({ source }: MediaIndex): FlvSource {
  if (source.container === 'flv') return source
  throw new AppError('failed', 'the index is not of an FLV')
}
