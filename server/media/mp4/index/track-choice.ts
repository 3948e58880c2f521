// Which tracks of a movie are served: the first enabled video track, and all the sound that browsers play or that is transcoded.
import { AppError, isAppError } from '../../../errors.ts'
import type { RecordingLimitation } from '../../media-index.ts'
import type { AudioDescription } from '../sample-entries/audio-entry.ts'
import {
  readAudioDescriptions,
  readVideoDescriptions,
} from '../sample-entries/sample-descriptions.ts'
import type { Description } from '../sample-entries/entry-parts.ts'
import type { FileWindow } from '../boxes/file-window.ts'
import { type MovieTrack, leftOut } from './movie.ts'
import { MAX_AUDIO_TRACKS } from '../mp4-limits.ts'
import type { VideoDescription } from '../sample-entries/video-entry.ts'

/** The tracks to serve: at least one of them is there. */
export interface ChosenTracks {
  video?: ChosenTrack<VideoDescription>
  /** First the one that plays unasked. */
  audioTracks: ChosenTrack<AudioDescription>[]
  /** Tracks that are not served. */
  limitations: RecordingLimitation[]
}

/** A track with all of its codec configurations. */
export interface ChosenTrack<Playable> {
  track: MovieTrack
  descriptions: Description<Playable>[]
}

/**
 * Chooses. Throws `unplayable`, with the reason of the first candidate, where there is nothing that browsers play, or where
 * there are pictures and browsers do not play them. Still images (covers, chapter marks) count as no pictures.
 */
export async function chooseTracks(
  window: FileWindow,
  candidates: readonly MovieTrack[],
): Promise<ChosenTracks> {
  const video = await chooseVideo(window, enabledOnly(candidates, 'video'))
  const audio = await chooseAudioTracks(window, candidates)
  if (video.unplayable !== undefined && (audio.audioTracks.length === 0 || !video.isStillImage)) {
    throw new AppError('unplayable', video.unplayable)
  }
  if (video.chosen === undefined && audio.audioTracks.length === 0) {
    throw new AppError('unplayable', audio.unplayable ?? 'the file has no pictures and no sound')
  }
  return {
    ...(video.chosen && { video: video.chosen }),
    audioTracks: audio.audioTracks,
    limitations: [
      ...(await noteFurtherVideoTracks(window, candidates, video.chosen)),
      ...audio.limitations,
    ],
  }
}

interface VideoChoice {
  chosen?: ChosenTrack<VideoDescription>
  /** Why the first candidate is not played, where none is chosen. */
  unplayable?: string
  isStillImage: boolean
}

/** A disabled track is taken only where no enabled one is there. */
function enabledOnly(tracks: readonly MovieTrack[], kind: MovieTrack['kind']): MovieTrack[] {
  const ofKind = tracks.filter((track) => track.kind === kind)
  const enabled = ofKind.filter((track) => track.isEnabled)
  return enabled.length > 0 ? enabled : ofKind
}

async function chooseVideo(window: FileWindow, tracks: MovieTrack[]): Promise<VideoChoice> {
  for (const track of tracks) {
    const descriptions = await readVideoDescriptions(window, track.descriptions)
    const refused = descriptions.find((description) => description.status === 'unplayable')
    const isLast = track === tracks.at(-1)
    if (refused === undefined) return { chosen: { track, descriptions }, isStillImage: false }
    if (isLast || !refused.isStillImage) {
      return { unplayable: refused.reason, isStillImage: refused.isStillImage }
    }
  }
  return { isStillImage: false }
}

/** Films beside the one that is served; covers and chapter marks are none, and what is broken is not missed. */
async function noteFurtherVideoTracks(
  window: FileWindow,
  candidates: readonly MovieTrack[],
  chosen: VideoChoice['chosen'],
): Promise<RecordingLimitation[]> {
  const limitations: RecordingLimitation[] = []
  for (const track of candidates) {
    if (track.kind !== 'video' || !track.isEnabled || track === chosen?.track) continue
    const descriptions = await readOrNote(() => readVideoDescriptions(window, track.descriptions))
    if (!Array.isArray(descriptions)) continue
    if (descriptions.some((each) => each.status === 'unplayable' && each.isStillImage)) continue
    limitations.push({
      kind: 'pictures-left-out',
      message: 'a further video track is left out: one is served',
    })
  }
  return limitations
}

interface AudioChoice {
  audioTracks: ChosenTrack<AudioDescription>[]
  limitations: RecordingLimitation[]
  /** Why the first candidate is not played. */
  unplayable?: string
}

/** Enabled tracks come first: by Apple's custom, alternatives of other languages are disabled. */
async function chooseAudioTracks(
  window: FileWindow,
  candidates: readonly MovieTrack[],
): Promise<AudioChoice> {
  const all = candidates.filter((track) => track.kind === 'audio')
  const ranked = [
    ...all.filter((track) => track.isEnabled),
    ...all.filter((track) => !track.isEnabled),
  ]
  const audioTracks: ChosenTrack<AudioDescription>[] = []
  const limitations: RecordingLimitation[] = []
  let unplayable: string | undefined
  for (const track of ranked) {
    const descriptions = await readOrNote(() => readAudioDescriptions(window, track.descriptions))
    if (!Array.isArray(descriptions)) {
      limitations.push(leftOut('audio', descriptions))
      continue
    }
    const [first] = descriptions
    if (first?.status === 'playable')
      audioTracks.push({ track: withPcmSizes(track, first), descriptions })
    else if (first !== undefined) {
      unplayable ??= first.reason
      limitations.push({ kind: 'sound-left-out', message: first.reason })
    }
  }
  if (audioTracks.length > MAX_AUDIO_TRACKS) {
    const message = `${audioTracks.length - MAX_AUDIO_TRACKS} further sounds are left out`
    limitations.push({ kind: 'sound-left-out', message })
  }
  return {
    audioTracks: preferPlayed(audioTracks).slice(0, MAX_AUDIO_TRACKS),
    limitations,
    ...(unplayable !== undefined && { unplayable }),
  }
}

/** QuickTime writes a sample size of 1 for uncompressed sound, whatever its samples take. */
function withPcmSizes(track: MovieTrack, { pcmFrameBytes }: AudioDescription): MovieTrack {
  const { tables } = track
  if (pcmFrameBytes === undefined || tables.sizes.kind !== 'constant') return track
  const sizes = { kind: 'constant', sizeBytes: pcmFrameBytes } as const
  return { ...track, tables: { ...tables, sizes } }
}

/** What is wrong with the box, where it is broken: the recording plays without this track. */
async function readOrNote<Value>(read: () => Promise<Value>): Promise<Value | AppError> {
  try {
    return await read()
  } catch (error) {
    if (isAppError(error, 'unplayable')) return error
    throw error
  }
}

/** Of equal tracks of the first one's language, one that browsers play as it is comes first. */
function preferPlayed(
  audioTracks: ChosenTrack<AudioDescription>[],
): ChosenTrack<AudioDescription>[] {
  const [first] = audioTracks
  const played = audioTracks.find(
    (audio) =>
      !isTranscoded(audio) &&
      audio.track.isEnabled === first?.track.isEnabled &&
      audio.track.language === first.track.language,
  )
  if (played === undefined) return audioTracks
  return [played, ...audioTracks.filter((audio) => audio !== played)]
}

function isTranscoded({ descriptions: [first] }: ChosenTrack<AudioDescription>): boolean {
  return first?.status === 'playable' && first.transcodedFrom !== undefined
}
