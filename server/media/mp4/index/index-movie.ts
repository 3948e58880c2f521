// Indexes a movie: surveys its tracks, finds split points, and aligns the tracks on one timeline.
import {
  type AudioTrack,
  type MediaIndex,
  type VideoTrack,
  MAX_LIMITATIONS,
  durationSeconds,
  sourceOf,
} from '../../media-index.ts'
import { UnplayableError } from '../../../base/errors.ts'
import type { Limitation } from '../../../base/problem.ts'
import { type AudioSplitPoints, findAudioSplitPoints } from './audio-split-points.ts'
import type { AudioDescription } from '../sample-entries/audio-entry.ts'
import type { FileWindow } from '../boxes/file-window.ts'
import { quarterTurns } from '../boxes/matrix.ts'
import { type Movie, type MovieTrack, notServed } from './movie.ts'
import type { Mp4Source, Mp4Track } from '../mp4-source.ts'
import { segmentCost } from '../sample-tables/segment-cost.ts'
import { type SampleCounts, withSegmentLimits } from '../../timeline/segment-limits.ts'
import { markUnreadable } from './unreadable-split-points.ts'
import { makeSplitPointTable, padCursors } from './split-point-table.ts'
import { readSubtitleTracks } from './subtitle-tracks.ts'
import { readTrackSets } from './track-sets.ts'
import { type TrackShift, alignTracks } from './align-tracks.ts'
import { type ChosenTrack, chooseTracks } from './track-choice.ts'
import {
  type SplitTimes,
  type SurveyedTrack,
  baseTrack,
  movieSeconds,
  videoSplitTimes,
  surveyTrack,
} from './survey-track.ts'
import { type VideoSplitPoints, findVideoSplitPoints } from './video-split-points.ts'
import type { VideoDescription } from '../sample-entries/video-entry.ts'

type SplitVideo = SurveyedTrack<VideoDescription> & { splitPoints: VideoSplitPoints }
type SplitAudio = SurveyedTrack<AudioDescription> & { splitPoints: AudioSplitPoints }

/** Reads the times of all samples of a movie. Throws `unplayable` with the reason. */
export async function indexMovie(window: FileWindow, movie: Movie): Promise<MediaIndex> {
  const { file, signal } = window
  const withSamples = movie.tracks.filter((track) => track.tables.sampleCount > 0)
  const chosen = await chooseTracks(window, withSamples)
  const plan = { movieTimescale: movie.timescale, signal }
  const video =
    chosen.video && (await surveyTrack(file, chosen.video, { ...plan, stopsAtChange: 'continue' }))
  const videoSplits = video && (await splitVideo(window, video))
  const { audioTracks, limitations: audioLimitations } = await splitAudioTracks(
    window,
    chosen.audioTracks,
    {
      plan,
      video: videoSplits,
    },
  )
  const { index, startSeconds } = assemble(window, {
    ...(videoSplits && { video: videoSplits }),
    audioTracks,
  })
  await addSets(window, index)
  const subtitles = await readSubtitleTracks(window, movie, startSeconds)
  const truncated = [video, ...audioTracks].some((track) => track?.survey.isTruncated === true)
  const limitations = [
    ...movie.limitations,
    ...chosen.limitations,
    ...audioLimitations,
    ...(chosen.video && videoSplits === undefined ? [NO_VIDEO] : []),
    ...(truncated ? [truncatedLimitation(window, index)] : []),
  ]
  const described: MediaIndex = {
    ...index,
    ...(subtitles.length > 0 && { subtitles }),
    ...(limitations.length > 0 && { limitations: limitations.slice(-MAX_LIMITATIONS) }),
  }
  const source = sourceOf(index, 'mp4')
  return withSegmentLimits(markUnreadable(described, source), countSamples(source))
}

/** Of the tracks that a segment has by default. */
function countSamples({ tracks }: Mp4Source): SampleCounts {
  const kinds = ['video', 'audio'] as const
  const served = kinds.flatMap((kind) => tracks.find((track) => track.kind === kind) ?? [])
  const countTo = (to: number) =>
    served.reduce((sum, track) => sum + segmentCost(track, { from: 0, to }), 0)
  const count = served[0]?.cursors.samples.length ?? 0
  return {
    before: Float64Array.from({ length: count }, (_, at) => countTo(at)),
    total: countTo(count),
  }
}

async function addSets({ file, signal }: FileWindow, { source }: MediaIndex): Promise<void> {
  const video = source.container === 'mp4' ? source.tracks[0] : undefined
  const sets = video?.kind === 'video' ? await readTrackSets(file, video, signal) : undefined
  if (video !== undefined && sets !== undefined) video.sets = sets
}

const NO_VIDEO: Limitation = {
  code: 'video-not-served',
  cause: { code: 'track-empty' },
}

function truncatedLimitation({ sizeBytes }: FileWindow, index: MediaIndex): Limitation {
  return {
    code: 'truncated',
    unit: 'media',
    offsetBytes: sizeBytes,
    seconds: durationSeconds(index),
  }
}

/** A corrupt audio track is omitted and reported, unless nothing else is left. */
async function splitAudioTracks(
  window: FileWindow,
  chosen: readonly ChosenTrack<AudioDescription>[],
  {
    plan,
    video,
  }: { plan: { movieTimescale: number; signal: AbortSignal }; video: SplitVideo | undefined },
): Promise<{ audioTracks: SplitAudio[]; limitations: Limitation[] }> {
  const audioTracks: SplitAudio[] = []
  const limitations: Limitation[] = []
  let problem: UnplayableError | undefined
  for (const each of chosen) {
    try {
      const audio = await surveyTrack(window.file, each, { ...plan, stopsAtChange: 'stop' })
      if (audio !== undefined)
        audioTracks.push(await splitAudio(window, audio, splitTimes(video, audioTracks[0])))
    } catch (error) {
      if (!(error instanceof UnplayableError)) throw error
      problem ??= error
      limitations.push(notServed('audio', error.reason))
    }
  }
  if (problem !== undefined && video === undefined && audioTracks.length === 0) throw problem
  return { audioTracks, limitations }
}

async function splitVideo(
  { file, signal }: FileWindow,
  video: SurveyedTrack<VideoDescription>,
): Promise<SplitVideo> {
  const timescale = video.clock.fileTimescale
  return {
    ...video,
    splitPoints: await findVideoSplitPoints(file, video.survey, { timescale, signal }),
  }
}

async function splitAudio(
  { file, signal }: FileWindow,
  audio: SurveyedTrack<AudioDescription>,
  times: SplitTimes | undefined,
): Promise<SplitAudio> {
  const plan = {
    timescale: audio.clock.fileTimescale,
    videoTimes: videoSplitTimes(audio.clock, times),
    signal,
  }
  return { ...audio, splitPoints: await findAudioSplitPoints(file, audio.survey, plan) }
}

/** The first audio track adds split points where there is no video; the other tracks follow it. */
function splitTimes(
  video: SplitVideo | undefined,
  first: SplitAudio | undefined,
): SplitTimes | undefined {
  const videoTimes = video?.splitPoints.presentationTicks.slice(1) ?? []
  const splitPointSeconds = videoTimes.map((ticks) =>
    video ? movieSeconds(video.clock, ticks) : 0,
  )
  if (first === undefined) {
    return (
      video && {
        splitPointSeconds,
        endSeconds: movieSeconds(video.clock, video.splitPoints.extent.latestEndTicks),
      }
    )
  }
  const audioOnly = first.splitPoints.audioOnlyTicks.map((ticks) =>
    movieSeconds(first.clock, ticks),
  )
  return { splitPointSeconds: [...splitPointSeconds, ...audioOnly], endSeconds: Infinity }
}

interface Parts {
  video?: SplitVideo
  audioTracks: SplitAudio[]
}

function assemble(
  { sizeBytes }: FileWindow,
  { video, audioTracks }: Parts,
): { index: MediaIndex; startSeconds: number } {
  const present = [...(video ? [video] : []), ...audioTracks]
  if (present.length === 0) {
    throw new UnplayableError({ code: 'frames-missing' })
  }
  const { shifts, startSeconds } = alignTracks(
    present.map(({ clock, splitPoints }) => ({ clock, extent: splitPoints.extent })),
  )
  const videoShift = video && shifts[0]
  const audioShifts = video === undefined ? shifts : shifts.slice(1)
  const shifted = audioTracks.flatMap((audio, at) => {
    const shift = audioShifts[at]
    return shift === undefined ? [] : [{ ...audio, shift }]
  })
  const [firstAudio] = shifted
  const shiftedVideo = video && videoShift && { ...video, shift: videoShift }
  const audioOnlyCount = firstAudio?.splitPoints.audioOnlyTicks.length ?? 0
  const splitPoints = makeSplitPointTable({
    ...(shiftedVideo && { video: shiftedVideo }),
    ...(firstAudio && { audio: firstAudio }),
  })
  const tracks: Mp4Track[] = [
    ...(shiftedVideo ? [videoSource(shiftedVideo, audioOnlyCount)] : []),
    ...shifted.map((audio) => ({
      ...baseTrack(audio, audio.shift),
      cursors: audio.splitPoints.cursors,
    })),
  ]
  const index: MediaIndex = {
    tracks: [
      ...(video ? [describeVideo(video.descriptions[0], video.track)] : []),
      ...audioTracks.map(({ descriptions: [description], track }) =>
        describeAudio(description, track),
      ),
    ],
    splitPoints,
    source: { container: 'mp4', sizeBytes, tracks },
  }
  return { index, startSeconds }
}

export function describeVideo(
  { codec, codecName, width, height }: VideoDescription,
  { matrix }: MovieTrack,
): VideoTrack {
  return { kind: 'video', codec, codecName, width, height, rotationDegrees: quarterTurns(matrix) }
}

export function describeAudio(
  { codec, codecName, channels, sampleRate, transcodedFrom }: AudioDescription,
  { language, name }: MovieTrack,
): AudioTrack {
  return {
    kind: 'audio',
    codec,
    codecName,
    channels,
    sampleRate,
    ...(language !== undefined && { language }),
    ...(name !== undefined && { name }),
    ...(transcodedFrom && { transcodedFrom }),
  }
}

function videoSource(video: SplitVideo & { shift: TrackShift }, audioOnlyCount: number): Mp4Track {
  const { cursors, descriptions } = video.splitPoints
  const last = descriptions.at(-1) ?? 0
  const padding = Array.from({ length: audioOnlyCount }, () => last)
  return {
    ...baseTrack(video, video.shift),
    cursors: padCursors(cursors, audioOnlyCount, video.survey.map),
    ...(video.descriptions.length > 1 && {
      descriptionOfSplitPoint: Uint8Array.from([...descriptions, ...padding]),
    }),
  }
}
