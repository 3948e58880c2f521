// Surveys the samples of a selected track, for its split points and its clock.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { VideoSplitTimes } from './audio-split-points.ts'
import type { AudioDescription } from '../sample-entries/audio-entry.ts'
import { isIdentity } from '../boxes/matrix.ts'
import type { MovieTrack } from './movie.ts'
import { PCM_PACKET_SAMPLES } from '../mp4-limits.ts'
import type { Mp4Description, Mp4Track } from '../mp4-source.ts'
import { type SampleSurvey, type SurveyPlan, surveySamples } from '../sample-tables/sample-map.ts'
import { type TrackClock, type TrackShift, createClock } from './align-tracks.ts'
import type { ChosenTrack } from './track-choice.ts'

/** A track with at least one complete sample in the file. */
export interface SurveyedTrack<Playable> {
  track: MovieTrack
  survey: SampleSurvey
  clock: TrackClock
  /** Codec configurations, indexed by the changes of the survey. */
  descriptions: [Playable, ...Playable[]]
}

interface TrackPlan extends Omit<SurveyPlan, 'descriptionCount' | 'mediaTicks' | 'timescale'> {
  movieTimescale: number
}

/**
 * Surveys a track; undefined if the file has none of its samples, or a codec configuration in use
 * is unplayable.
 */
export async function surveyTrack<Playable>(
  file: OpenFile,
  { track, descriptions }: ChosenTrack<Playable>,
  plan: TrackPlan,
): Promise<SurveyedTrack<Playable> | undefined> {
  const survey = await surveySamples(file, track.tables, {
    ...plan,
    descriptionCount: descriptions.length,
    timescale: track.timescale,
    mediaTicks: track.mediaTicks,
  })
  if (survey.map.sampleCount === 0) return undefined
  const used = [...new Set(survey.changes.map((change) => change.description))]
  const playable = used
    .map((description) => descriptions[description])
    .filter((description) => description?.status === 'playable')
  const [first, ...others] = playable
  if (first === undefined || playable.length < used.length) return undefined
  const changes = survey.changes.map(({ sample, description }) => {
    return { sample, description: used.indexOf(description) }
  })
  const clock = createClock({
    fileTimescale: track.timescale,
    movieTimescale: plan.movieTimescale,
    edits: track.edits,
    totalTicks: survey.totalTicks,
    largestDuration: survey.largestDuration,
  })
  return { track, survey: { ...survey, changes }, clock, descriptions: [first, ...others] }
}

/** The source of a served track, without its cursors. */
export function baseTrack(
  {
    track,
    survey,
    clock,
    descriptions,
  }: SurveyedTrack<Mp4Description & Pick<AudioDescription, 'pcmFrameBytes'>>,
  shift: TrackShift,
): Omit<Mp4Track, 'cursors'> {
  const { matrix, width, height } = track
  const isVideo = track.kind === 'video'
  const [{ pcmFrameBytes }] = descriptions
  return {
    kind: isVideo ? 'video' : 'audio',
    timescale: clock.timescale,
    tickScale: clock.tickScale,
    decodeShiftTicks: shift.decodeShiftTicks,
    compositionShiftTicks: shift.compositionShiftTicks,
    samples: survey.map,
    descriptions: descriptions.map(({ sampleEntry, decoder }) => ({
      ...(sampleEntry && { sampleEntry }),
      ...(decoder && { decoder }),
    })),
    ...(pcmFrameBytes !== undefined && { packetSamples: PCM_PACKET_SAMPLES }),
    ...(isVideo && !isIdentity(matrix) && { matrix }),
    width: isVideo ? width : 0,
    height: isVideo ? height : 0,
  }
}

/**
 * Split points that the audio must follow, in seconds on the movie timeline (edit lists applied).
 */
export interface SplitTimes {
  /** All but the first split point. */
  splitPointSeconds: readonly number[]
  /** From here on the audio adds its own split points; Infinity for never. */
  endSeconds: number
}

/** Converts split points to ticks of an audio track, without its edit list. */
export function videoSplitTimes(audio: TrackClock, times: SplitTimes | undefined): VideoSplitTimes {
  if (times === undefined) return { splitTicks: [], endTicks: undefined }
  const toAudio = (seconds: number) =>
    (seconds * audio.timescale - audio.editTicks) / audio.tickScale
  return { splitTicks: times.splitPointSeconds.map(toAudio), endTicks: toAudio(times.endSeconds) }
}

/** Converts track ticks to seconds on the movie timeline. */
export function movieSeconds(clock: TrackClock, fileTicks: number): number {
  return (fileTicks * clock.tickScale + clock.editTicks) / clock.timescale
}
