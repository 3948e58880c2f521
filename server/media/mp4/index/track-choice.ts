// Selects the served tracks of a movie: the first enabled video track, and all audio tracks that
// browsers play or that are transcoded.
import type { AudioDescription } from '../sample-entries/audio-entry.ts'
import {
  readAudioDescriptions,
  readVideoDescriptions,
} from '../sample-entries/sample-descriptions.ts'
import type { Description } from '../sample-entries/entry-parts.ts'
import type { FileWindow } from '../boxes/file-window.ts'
import { type MovieTrack, notServed } from './movie.ts'
import { MAX_AUDIO_TRACKS } from '../mp4-limits.ts'
import type { VideoDescription } from '../sample-entries/video-entry.ts'
import { UnplayableError } from '../../../base/errors.ts'
import type { Limitation, UnplayableReason } from '../../../base/problem.ts'

/** The served tracks, at least one. */
export interface ChosenTracks {
  video?: ChosenTrack<VideoDescription>
  /** The default track is first. */
  audioTracks: ChosenTrack<AudioDescription>[]
  /** Tracks that are not served. */
  limitations: Limitation[]
}

/** A track with all its codec configurations. */
export interface ChosenTrack<Playable> {
  track: MovieTrack
  descriptions: Description<Playable>[]
}

/**
 * Throws `unplayable`, with the reason of the first candidate, if no track is playable or the video
 * is not. Still images (covers, chapter thumbnails) do not count as video.
 */
export async function chooseTracks(
  window: FileWindow,
  candidates: readonly MovieTrack[],
): Promise<ChosenTracks> {
  const video = await chooseVideo(window, enabledOnly(candidates, 'video'))
  const audio = await chooseAudioTracks(window, candidates)
  if (video.unplayable !== undefined && (audio.audioTracks.length === 0 || !video.isStillImage)) {
    throw new UnplayableError(video.unplayable)
  }
  if (video.chosen === undefined && audio.audioTracks.length === 0) {
    throw new UnplayableError(audio.unplayable ?? { code: 'tracks-missing' })
  }
  return {
    ...(video.chosen && { video: video.chosen }),
    audioTracks: audio.audioTracks,
    limitations: [
      ...(await listFurtherVideoTracks(window, candidates, video.chosen)),
      ...audio.limitations,
    ],
  }
}

interface VideoChoice {
  chosen?: ChosenTrack<VideoDescription>
  /** Why the first candidate is unplayable, if no track was selected. */
  unplayable?: UnplayableReason
  isStillImage: boolean
}

/** Disabled tracks count only if there is no enabled one. */
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

/**
 * Further video tracks besides the served one. Still images and corrupt tracks are not reported.
 */
async function listFurtherVideoTracks(
  window: FileWindow,
  candidates: readonly MovieTrack[],
  chosen: VideoChoice['chosen'],
): Promise<Limitation[]> {
  const limitations: Limitation[] = []
  for (const track of candidates) {
    if (track.kind !== 'video' || !track.isEnabled || track === chosen?.track) continue
    const descriptions = await readUnlessBroken(() =>
      readVideoDescriptions(window, track.descriptions),
    )
    if (!Array.isArray(descriptions)) continue
    if (descriptions.some((each) => each.status === 'unplayable' && each.isStillImage)) continue
    limitations.push({ code: 'video-not-served', cause: { code: 'track-limit', tracks: 1 } })
  }
  return limitations
}

interface AudioChoice {
  audioTracks: ChosenTrack<AudioDescription>[]
  limitations: Limitation[]
  /** Why the first candidate is unplayable. */
  unplayable?: UnplayableReason
}

/** Enabled tracks are first: by Apple's convention, other languages are disabled. */
async function chooseAudioTracks(
  window: FileWindow,
  candidates: readonly MovieTrack[],
): Promise<AudioChoice> {
  const all = candidates.filter((track) => track.kind === 'audio')
  const ordered = [
    ...all.filter((track) => track.isEnabled),
    ...all.filter((track) => !track.isEnabled),
  ]
  const audioTracks: ChosenTrack<AudioDescription>[] = []
  const limitations: Limitation[] = []
  let unplayable: UnplayableReason | undefined
  for (const track of ordered) {
    const descriptions = await readUnlessBroken(() =>
      readAudioDescriptions(window, track.descriptions),
    )
    if (!Array.isArray(descriptions)) {
      limitations.push(notServed('audio', descriptions.reason))
      continue
    }
    const [first] = descriptions
    if (first?.status === 'playable')
      audioTracks.push({ track: withPcmSizes(track, first), descriptions })
    else if (first !== undefined) {
      unplayable ??= first.reason
      limitations.push(notServed('audio', first.reason))
    }
  }
  if (audioTracks.length > MAX_AUDIO_TRACKS) {
    const tracks = audioTracks.length - MAX_AUDIO_TRACKS
    limitations.push({ code: 'audio-not-served', cause: { code: 'track-limit', tracks } })
  }
  return {
    audioTracks: preferUntranscoded(audioTracks).slice(0, MAX_AUDIO_TRACKS),
    limitations,
    ...(unplayable !== undefined && { unplayable }),
  }
}

/** QuickTime declares a sample size of 1 for PCM, whatever the real size is. */
function withPcmSizes(track: MovieTrack, { pcmFrameBytes }: AudioDescription): MovieTrack {
  const { tables } = track
  if (pcmFrameBytes === undefined || tables.sizes.kind !== 'constant') return track
  const sizes = { kind: 'constant', sizeBytes: pcmFrameBytes } as const
  return { ...track, tables: { ...tables, sizes } }
}

/** Returns the error for a corrupt box: the recording plays without this track. */
async function readUnlessBroken<Value>(
  read: () => Promise<Value>,
): Promise<Value | UnplayableError> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof UnplayableError) return error
    throw error
  }
}

/**
 * Among tracks like the first one (language, enabled), one that needs no transcoding becomes the
 * default.
 */
function preferUntranscoded(
  audioTracks: ChosenTrack<AudioDescription>[],
): ChosenTrack<AudioDescription>[] {
  const [first] = audioTracks
  const untranscoded = audioTracks.find(
    (audio) =>
      !isTranscoded(audio) &&
      audio.track.isEnabled === first?.track.isEnabled &&
      audio.track.language === first.track.language,
  )
  if (untranscoded === undefined) return audioTracks
  return [untranscoded, ...audioTracks.filter((audio) => audio !== untranscoded)]
}

function isTranscoded({ descriptions: [first] }: ChosenTrack<AudioDescription>): boolean {
  return first?.status === 'playable' && first.transcodedFrom !== undefined
}
