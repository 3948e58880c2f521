// The reader of FLV (Adobe FLV 10.1, Enhanced RTMP): each tag has whole samples, copied to fMP4
// unchanged.
import { AppError } from '../../base/errors.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { videoConfig } from '../codec/sample-entry.ts'
import { servedTracks, sourceOf } from '../media-index.ts'
import type { KeyFrame, MediaIndex } from '../media-index.ts'
import type { InitTrack, MediaReader, SegmentContent, SegmentRange } from '../media-reader.ts'
import { readFlvIndex } from './flv-index.ts'
import { findKeyFrame, readSampleRuns, sectionAt, VIDEO_TIMESCALE } from './flv-segment.ts'
import type { FlvConfig } from './flv-source.ts'

/** A stateless reader: the index has all it needs of a recording. */
export function createFlvReader(): MediaReader {
  return { index: readFlvIndex, readSegment, initTracks, readKeyFrame }
}

async function readSegment(
  file: OpenFile,
  index: MediaIndex,
  range: SegmentRange,
): Promise<SegmentContent> {
  const runs = await readSampleRuns(
    file,
    { source: sourceOf(index, 'flv'), splitPoints: index.splitPoints },
    range,
  )
  const kinds = wantedKinds(index, range.tracks)
  return { kind: 'samples', runs: runs.filter(({ kind }) => kinds.has(kind)) }
}

function initTracks(
  index: MediaIndex,
  splitPoint: number,
  tracks?: readonly number[],
): InitTrack[] {
  const source = sourceOf(index, 'flv')
  const section = sectionAt(source, splitPoint)
  const kinds = wantedKinds(index, tracks)
  const configs = [section?.video, section?.audio].map((number) => {
    return number === undefined ? undefined : source.configs[number]
  })
  return configs.flatMap((config) => {
    const track = config && initTrack(config)
    return track !== undefined && kinds.has(track.kind) ? [track] : []
  })
}

function initTrack(config: FlvConfig): InitTrack | undefined {
  if (config.kind === 'audio') {
    const { sampleRate: timescale, sampleEntry } = config
    return sampleEntry && { kind: 'audio', timescale, sampleEntry, width: 0, height: 0 }
  }
  const described = videoConfig(config.codec, config)
  if (described === undefined) throw new AppError('failed', 'the index is corrupt')
  const { sampleEntry, width, height } = described
  return { kind: 'video', timescale: VIDEO_TIMESCALE, sampleEntry, width, height }
}

async function readKeyFrame(
  file: OpenFile,
  index: MediaIndex,
  splitPoint: number,
): Promise<KeyFrame | undefined> {
  const source = sourceOf(index, 'flv')
  const number = sectionAt(source, splitPoint)?.video
  const config = number === undefined ? undefined : source.configs[number]
  if (config?.kind !== 'video') return undefined
  const data = await findKeyFrame(file, { source, splitPoints: index.splitPoints }, splitPoint)
  if (data === undefined) return undefined
  const extradata = config.codec === 'vp9' ? undefined : config.config
  return { codec: config.codec, data, rotationDegrees: 0, ...(extradata && { extradata }) }
}

function wantedKinds(
  index: MediaIndex,
  tracks: readonly number[] | undefined,
): ReadonlySet<string | undefined> {
  return new Set(servedTracks(index, tracks).map((number) => index.tracks[number]?.kind))
}
