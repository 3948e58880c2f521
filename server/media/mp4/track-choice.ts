// Which tracks of a movie are served: the first enabled video track, and the first sound that browsers play.
import { AppError } from '../../errors.ts'
import type { AudioDescription } from './audio-entry.ts'
import { readAudioDescriptions, readVideoDescriptions } from './descriptions.ts'
import type { Description } from './entry-parts.ts'
import type { FileWindow } from './file-window.ts'
import { type Movie, type MovieTrack, fragmented } from './movie.ts'
import type { VideoDescription } from './video-entry.ts'

/** The tracks to serve: at least one of them is there. */
export interface ChosenTracks {
  video?: ChosenTrack<VideoDescription>
  audio?: ChosenTrack<AudioDescription>
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
export async function chooseTracks(window: FileWindow, movie: Movie): Promise<ChosenTracks> {
  const candidates = movie.tracks.filter((track) => track.tables.sampleCount > 0)
  if (candidates.length === 0 && movie.isFragmented) throw fragmented()
  const video = await chooseVideo(window, enabledFirst(candidates, 'video'))
  const audio = await chooseAudio(window, enabledFirst(candidates, 'audio'))
  if (video.unplayable !== undefined && (audio.chosen === undefined || !video.isStillImage)) {
    throw new AppError('unplayable', video.unplayable)
  }
  if (video.chosen === undefined && audio.chosen === undefined) {
    throw new AppError('unplayable', audio.unplayable ?? 'the file has no pictures and no sound')
  }
  return {
    ...(video.chosen && { video: video.chosen }),
    ...(audio.chosen && { audio: audio.chosen }),
  }
}

interface Choice<Playable> {
  chosen?: ChosenTrack<Playable>
  /** Why the first candidate is not played, where none is chosen. */
  unplayable?: string
  isStillImage: boolean
}

/** A disabled track is taken only where no enabled one is there. */
function enabledFirst(tracks: readonly MovieTrack[], kind: MovieTrack['kind']): MovieTrack[] {
  const ofKind = tracks.filter((track) => track.kind === kind)
  const enabled = ofKind.filter((track) => track.isEnabled)
  return enabled.length > 0 ? enabled : ofKind
}

async function chooseVideo(
  window: FileWindow,
  tracks: MovieTrack[],
): Promise<Choice<VideoDescription>> {
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

async function chooseAudio(
  window: FileWindow,
  tracks: MovieTrack[],
): Promise<Choice<AudioDescription>> {
  let unplayable: string | undefined
  for (const track of tracks) {
    const descriptions = await readAudioDescriptions(window, track.descriptions)
    const [first] = descriptions
    if (first?.status === 'playable') {
      return { chosen: { track, descriptions }, isStillImage: false }
    }
    unplayable ??= first?.reason
  }
  return unplayable === undefined ? { isStillImage: false } : { unplayable, isStillImage: false }
}
