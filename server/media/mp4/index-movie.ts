// Makes the index of a movie: its tracks surveyed, cut, and put on one timeline.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import type { CutTable, MediaIndex, Track } from '../media-index.ts'
import { type AudioCuts, findAudioCuts } from './audio-cuts.ts'
import type { AudioDescription } from './audio-entry.ts'
import { FileWindow } from './file-window.ts'
import { quarterTurns } from './matrix.ts'
import { readMovie } from './movie.ts'
import type { Mp4Track } from './mp4-source.ts'
import { makeCutTable, padCursors } from './cut-table.ts'
import { type TrackShift, alignTracks } from './timeline.ts'
import { chooseTracks } from './track-choice.ts'
import { type SurveyedTrack, baseTrack, pictureTimes, surveyTrack } from './surveyed-track.ts'
import { type VideoCuts, findVideoCuts } from './video-cuts.ts'
import type { VideoDescription } from './video-entry.ts'

type SurveyedVideo = SurveyedTrack<VideoDescription>
type SurveyedAudio = SurveyedTrack<AudioDescription>

/** Reads a movie's structure and walks through its times. Throws `unplayable` with the reason for a person. */
export async function indexMovie(file: OpenFile, signal: AbortSignal): Promise<MediaIndex> {
  const window = new FileWindow(file, signal)
  const movie = await readMovie(window)
  const chosen = await chooseTracks(window, movie)
  const plan = { movieTimescale: movie.timescale, signal }
  const [video, audio] = await Promise.all([
    chosen.video && surveyTrack(file, chosen.video, { ...plan, stopsAtChange: 'go on' }),
    chosen.audio && surveyTrack(file, chosen.audio, { ...plan, stopsAtChange: 'stop' }),
  ])
  const videoCuts =
    video &&
    (await findVideoCuts(file, video.survey, { timescale: video.clock.fileTimescale, signal }))
  const audioCuts =
    audio &&
    (await findAudioCuts(file, audio.survey, {
      timescale: audio.clock.fileTimescale,
      pictures: pictureTimes(audio.clock, videoCuts && { cuts: videoCuts, clock: video.clock }),
      signal,
    }))
  const parts = {
    ...(videoCuts && { video: { ...video, cuts: videoCuts } }),
    ...(audioCuts && { audio: { ...audio, cuts: audioCuts } }),
  }
  return assemble(file, parts)
}

interface Parts {
  video?: SurveyedVideo & { cuts: VideoCuts }
  audio?: SurveyedAudio & { cuts: AudioCuts }
}

function assemble(file: OpenFile, { video, audio }: Parts): MediaIndex {
  const present = [video, audio].filter((part) => part !== undefined)
  const shifts = alignTracks(present.map(({ clock, cuts }) => ({ clock, extent: cuts.extent })))
  const [firstShift, secondShift] = shifts
  const audioShift = video === undefined ? firstShift : secondShift
  const tracks: Track[] = []
  const sources: Mp4Track[] = []
  const ownCuts = audio?.cuts.ownTicks.length ?? 0
  if (video !== undefined && firstShift !== undefined) {
    tracks.push(describeVideo(video))
    sources.push(videoSource(video, firstShift, ownCuts))
  }
  if (audio !== undefined && audioShift !== undefined) {
    tracks.push(describeAudio(audio))
    sources.push({ ...baseTrack(audio, audioShift), cursors: audio.cuts.cursors })
  }
  if (tracks.length === 0) {
    throw new AppError('unplayable', 'the recording ends before its first picture')
  }
  const cuts: CutTable = makeCutTable({
    ...(video && firstShift && { video: { ...video, shift: firstShift } }),
    ...(audio && audioShift && { audio: { ...audio, shift: audioShift } }),
  })
  const source = { container: 'mp4', sizeBytes: file.stat.sizeBytes, tracks: sources } as const
  return { tracks, cuts, source }
}

function describeVideo({ descriptions, track }: SurveyedVideo): Track {
  const [{ codec, codecName, width, height }] = descriptions
  const rotationDegrees = quarterTurns(track.matrix)
  return { kind: 'video', codec, codecName, width, height, rotationDegrees }
}

function describeAudio({ descriptions }: SurveyedAudio): Track {
  const [{ codec, codecName, channels, sampleRate }] = descriptions
  return { kind: 'audio', codec, codecName, channels, sampleRate }
}

function videoSource(
  video: SurveyedVideo & { cuts: VideoCuts },
  shift: TrackShift,
  ownCuts: number,
): Mp4Track {
  const { cursors, descriptions } = video.cuts
  const last = descriptions.at(-1) ?? 0
  const padding = Array.from({ length: ownCuts }, () => last)
  return {
    ...baseTrack(video, shift),
    cursors: padCursors(cursors, ownCuts, video.survey.map),
    ...(video.descriptions.length > 1 && {
      descriptionOfCut: Uint8Array.from([...descriptions, ...padding]),
    }),
  }
}
