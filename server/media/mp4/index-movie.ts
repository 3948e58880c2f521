// Makes the index of a movie: its tracks surveyed, cut, and put on one timeline.
import { AppError, isAppError } from '../../errors.ts'
import type { AudioTrack, MediaIndex, RecordingNote, VideoTrack } from '../media-index.ts'
import { MAX_NOTES, durationSeconds } from '../media-index.ts'
import { type AudioCuts, findAudioCuts } from './audio-cuts.ts'
import type { AudioDescription } from './audio-entry.ts'
import type { FileWindow } from './file-window.ts'
import { quarterTurns } from './matrix.ts'
import { type Movie, type MovieTrack, leftOut } from './movie.ts'
import type { Mp4Track } from './mp4-source.ts'
import { makeCutTable, padCursors } from './cut-table.ts'
import { readTextTracks } from './text-tracks.ts'
import { type TrackShift, alignTracks } from './timeline.ts'
import { type ChosenTrack, chooseTracks } from './track-choice.ts'
import {
  type CutTimes,
  type SurveyedTrack,
  baseTrack,
  movieSeconds,
  pictureTimes,
  surveyTrack,
} from './surveyed-track.ts'
import { type VideoCuts, findVideoCuts } from './video-cuts.ts'
import type { VideoDescription } from './video-entry.ts'

type CutVideo = SurveyedTrack<VideoDescription> & { cuts: VideoCuts }
type CutAudio = SurveyedTrack<AudioDescription> & { cuts: AudioCuts }

/** Walks through the times of a movie. Throws `unplayable` with the reason for a person. */
export async function indexMovie(window: FileWindow, movie: Movie): Promise<MediaIndex> {
  const { file, signal } = window
  const withSamples = movie.tracks.filter((track) => track.tables.sampleCount > 0)
  const chosen = await chooseTracks(window, withSamples)
  const plan = { movieTimescale: movie.timescale, signal }
  const video =
    chosen.video && (await surveyTrack(file, chosen.video, { ...plan, stopsAtChange: 'go on' }))
  const cutVideo = video && (await cutPictures(window, video))
  const { sounds, notes: broken } = await cutSounds(window, chosen.sounds, {
    plan,
    video: cutVideo,
  })
  const { index, startSeconds } = assemble(window, { ...(cutVideo && { video: cutVideo }), sounds })
  const texts = await readTextTracks(window, movie, startSeconds)
  const cutOff = [video, ...sounds].some((track) => track?.survey.isCutOff === true)
  const notes = [
    ...movie.notes,
    ...chosen.notes,
    ...broken,
    ...(chosen.video && cutVideo === undefined ? [NO_PICTURES] : []),
    ...(cutOff ? [cutOffNote(window, index)] : []),
  ]
  return {
    ...index,
    ...(texts.length > 0 && { texts }),
    ...(notes.length > 0 && { notes: notes.slice(-MAX_NOTES) }),
  }
}

const NO_PICTURES: RecordingNote = {
  kind: 'pictures-left-out',
  message: 'the pictures that the index (moov) lists are not in the file, or change their codec',
}

function cutOffNote({ sizeBytes }: FileWindow, index: MediaIndex): RecordingNote {
  return {
    kind: 'cut-off',
    message: 'the file ends before media that its index (moov) lists',
    offsetBytes: sizeBytes,
    seconds: durationSeconds(index),
  }
}

/** Sound that is broken is left out and noted, unless there is nothing else. */
async function cutSounds(
  window: FileWindow,
  chosen: readonly ChosenTrack<AudioDescription>[],
  {
    plan,
    video,
  }: { plan: { movieTimescale: number; signal: AbortSignal }; video: CutVideo | undefined },
): Promise<{ sounds: CutAudio[]; notes: RecordingNote[] }> {
  const sounds: CutAudio[] = []
  const notes: RecordingNote[] = []
  let problem: AppError | undefined
  for (const each of chosen) {
    try {
      const sound = await surveyTrack(window.file, each, { ...plan, stopsAtChange: 'stop' })
      if (sound !== undefined)
        sounds.push(await cutSound(window, sound, cutTimes(video, sounds[0])))
    } catch (error) {
      if (!isAppError(error, 'unplayable')) throw error
      problem ??= error
      notes.push(leftOut('audio', error))
    }
  }
  if (problem !== undefined && video === undefined && sounds.length === 0) throw problem
  return { sounds, notes }
}

async function cutPictures(
  { file, signal }: FileWindow,
  video: SurveyedTrack<VideoDescription>,
): Promise<CutVideo> {
  const timescale = video.clock.fileTimescale
  return { ...video, cuts: await findVideoCuts(file, video.survey, { timescale, signal }) }
}

async function cutSound(
  { file, signal }: FileWindow,
  sound: SurveyedTrack<AudioDescription>,
  times: CutTimes | undefined,
): Promise<CutAudio> {
  const plan = {
    timescale: sound.clock.fileTimescale,
    pictures: pictureTimes(sound.clock, times),
    signal,
  }
  return { ...sound, cuts: await findAudioCuts(file, sound.survey, plan) }
}

/** The first sound makes cuts of its own where there are no pictures; all others follow. */
function cutTimes(video: CutVideo | undefined, first: CutAudio | undefined): CutTimes | undefined {
  const pictures = video?.cuts.presentationTicks.slice(1) ?? []
  const cutSeconds = pictures.map((ticks) => (video ? movieSeconds(video.clock, ticks) : 0))
  if (first === undefined) {
    return (
      video && {
        cutSeconds,
        endSeconds: movieSeconds(video.clock, video.cuts.extent.latestEndTicks),
      }
    )
  }
  const own = first.cuts.ownTicks.map((ticks) => movieSeconds(first.clock, ticks))
  return { cutSeconds: [...cutSeconds, ...own], endSeconds: Infinity }
}

interface Parts {
  video?: CutVideo
  sounds: CutAudio[]
}

function assemble(
  { sizeBytes }: FileWindow,
  { video, sounds }: Parts,
): { index: MediaIndex; startSeconds: number } {
  const present = [...(video ? [video] : []), ...sounds]
  if (present.length === 0) {
    throw new AppError('unplayable', 'the recording ends before its first picture')
  }
  const { shifts, startSeconds } = alignTracks(
    present.map(({ clock, cuts }) => ({ clock, extent: cuts.extent })),
  )
  const videoShift = video && shifts[0]
  const soundShifts = video === undefined ? shifts : shifts.slice(1)
  const shifted = sounds.flatMap((sound, at) => {
    const shift = soundShifts[at]
    return shift === undefined ? [] : [{ ...sound, shift }]
  })
  const [firstSound] = shifted
  const shiftedVideo = video && videoShift && { ...video, shift: videoShift }
  const ownCuts = firstSound?.cuts.ownTicks.length ?? 0
  const cuts = makeCutTable({
    ...(shiftedVideo && { video: shiftedVideo }),
    ...(firstSound && { audio: firstSound }),
  })
  const tracks: Mp4Track[] = [
    ...(shiftedVideo ? [videoSource(shiftedVideo, ownCuts)] : []),
    ...shifted.map((sound) => ({ ...baseTrack(sound, sound.shift), cursors: sound.cuts.cursors })),
  ]
  const index: MediaIndex = {
    tracks: [
      ...(video ? [describeVideo(video.descriptions[0], video.track)] : []),
      ...sounds.map(({ descriptions: [description], track }) => describeAudio(description, track)),
    ],
    cuts,
    source: { container: 'mp4', sizeBytes, tracks },
  }
  return { index, startSeconds }
}

/** The index's words for pictures. */
export function describeVideo(
  { codec, codecName, width, height }: VideoDescription,
  { matrix }: MovieTrack,
): VideoTrack {
  return { kind: 'video', codec, codecName, width, height, rotationDegrees: quarterTurns(matrix) }
}

/** The index's words for sound. */
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

function videoSource(video: CutVideo & { shift: TrackShift }, ownCuts: number): Mp4Track {
  const { cursors, descriptions } = video.cuts
  const last = descriptions.at(-1) ?? 0
  const padding = Array.from({ length: ownCuts }, () => last)
  return {
    ...baseTrack(video, video.shift),
    cursors: padCursors(cursors, ownCuts, video.survey.map),
    ...(video.descriptions.length > 1 && {
      descriptionOfCut: Uint8Array.from([...descriptions, ...padding]),
    }),
  }
}
