// Builds a segment of fMP4 samples from the packets of an MPEG-TS file, and the tracks of its init
// segment.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { videoConfig } from '../../codec/sample-entry.ts'
import { setsAt } from '../../codec/parameter-sets.ts'
import { hasKeyFrame, servedTracks } from '../../media-index.ts'
import type { MediaIndex } from '../../media-index.ts'
import type { InitTrack, SampleRun, SegmentRange } from '../../media-reader.ts'
import { gatherSegment, splitAtSections } from './gather-segment.ts'
import type { Gathered, RecordedSegment } from './gather-segment.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'
import { frameRun } from './video-samples.ts'
import { createSessionClock } from './session-clock.ts'
import type { SessionClock } from './session-clock.ts'
import { audioRun } from './audio-samples.ts'
import { isPlayed } from '../packets/audio-frame.ts'
import { audioEntry } from '../packets/audio-config.ts'
import type { TsAudio, TsSamples, TsSource, TsVideo } from '../ts-source.ts'
import { findSection } from '../../timeline/split-points.ts'

/** Samples of the split points, a run for each track with samples. */
export async function readSampleRuns(
  file: OpenFile,
  { index, source }: { index: MediaIndex; source: TsSource },
  range: SegmentRange,
): Promise<SampleRun[]> {
  const runs: SampleRun[] = []
  for (const chunk of splitAtSections(source, range)) {
    const { samples } = chunk.section
    if (samples === undefined) continue
    const streams = chooseStreams(index, samples, range.tracks)
    const gathered = await gatherSegment(file, source, {
      ...chunk,
      videoPid: streams.video?.pid,
      audioPids: streams.audioTracks.map(({ pid }) => pid),
    })
    const clock = clockOf(index, chunk, samples)
    runs.push(...makeRuns({ index, source }, chunk, { streams, gathered, clock }))
  }
  return runs
}

interface Streams {
  video: TsVideo | undefined
  audioTracks: TsAudio[]
}

/** The streams of a section for the requested tracks; missing ones are omitted. */
function chooseStreams(
  index: MediaIndex,
  { video, audioTracks }: TsSamples,
  tracks: readonly number[] | undefined,
): Streams {
  const firstAudio = index.tracks.findIndex(({ kind }) => kind === 'audio')
  const hasVideo = index.tracks[0]?.kind === 'video'
  const wanted = servedTracks(index, tracks)
  return {
    video: hasVideo && wanted.includes(0) ? video : undefined,
    audioTracks: wanted.flatMap(
      (track) => audioTracks.find(({ audio }) => audio === track - firstAudio) ?? [],
    ),
  }
}

function makeRuns(
  { index, source }: { index: MediaIndex; source: TsSource },
  chunk: RecordedSegment,
  { streams, gathered, clock }: { streams: Streams; gathered: Gathered; clock: SessionClock },
): SampleRun[] {
  const { end } = gathered
  const { video } = streams
  const frames =
    video &&
    gathered.video &&
    frameRun(
      {
        codec: video.codec,
        bytes: gathered.video.bytes,
        units: gathered.video.units,
        end,
        beginsWithKey: hasKeyFrame(index, chunk.from),
        parameterSets: chunk.section.parameterSets ?? new Uint8Array(0),
        sets: setsAt(source.sets, chunk.from),
      },
      clock,
    )
  const audioTracks = streams.audioTracks.map((audio, i) => {
    const stream = gathered.audioTracks[i]
    return stream && audioRun(audio, { bytes: stream.bytes, units: stream.units, end }, clock)
  })
  return [frames, ...audioTracks].filter((run) => run !== undefined)
}

function clockOf(
  { splitPoints }: MediaIndex,
  { from, to, section }: RecordedSegment,
  samples: TsSamples,
): SessionClock {
  return createSessionClock({
    shiftTicks: samples.shiftTicks,
    startTicks: splitPoints.startTicks[from] ?? 0,
    endTicks: splitPoints.startTicks[to] ?? splitPoints.endTicks,
    opensAtTicks: samples.continues
      ? -Infinity
      : (splitPoints.startTicks[section.firstSplitPoint] ?? 0),
  })
}

/** Tracks of the init segment at a split point, except transcoded audio. */
export function sampleTracks(
  index: MediaIndex,
  { sections }: TsSource,
  { splitPoint, tracks }: { splitPoint: number; tracks: readonly number[] | undefined },
): InitTrack[] {
  const samples = findSection(sections, splitPoint)?.samples
  if (samples === undefined) return []
  const { video, audioTracks } = chooseStreams(index, samples, tracks)
  const frames = video && videoTrack(video)
  return [...(frames ? [frames] : []), ...audioTracks.filter(isPlayed).flatMap(audioTrack)]
}

function videoTrack({ codec, config, width, height }: TsVideo): InitTrack | undefined {
  const entry = videoConfig(codec, { config, width, height })
  return (
    entry && {
      kind: 'video',
      timescale: PES_TIMESCALE,
      sampleEntry: entry.sampleEntry,
      width,
      height,
    }
  )
}

function audioTrack(audio: TsAudio): InitTrack[] {
  const entry = audioEntry(audio)
  if (entry === undefined) return []
  const { timescale } = audio
  return [{ kind: 'audio', timescale, sampleEntry: entry.sampleEntry, width: 0, height: 0 }]
}
