// Describes the tracks of a movie box for the fragments after it.
import type { Track } from '../../media-index.ts'
import { foldEdits } from '../../mp4/boxes/edit-list.ts'
import type { FileWindow } from '../../mp4/boxes/file-window.ts'
import { describeAudio, describeVideo } from '../../mp4/index/index-movie.ts'
import { isIdentity } from '../../mp4/boxes/matrix.ts'
import type { Movie, MovieTrack } from '../../mp4/index/movie.ts'
import { PCM_PACKET_SAMPLES } from '../../mp4/mp4-limits.ts'
import { MAX_SESSION_SECONDS } from '../../timeline/timeline-rules.ts'
import type { Mp4Description } from '../../mp4/mp4-source.ts'
import { MIN_TIMESCALE } from '../../mp4/index/align-tracks.ts'
import { type ChosenTrack, chooseTracks } from '../../mp4/index/track-choice.ts'
import type { AudioDescription } from '../../mp4/sample-entries/audio-entry.ts'
import type { VideoDescription } from '../../mp4/sample-entries/video-entry.ts'
import type { Fmp4Init, Fmp4Track } from '../fmp4-source.ts'
import type { Limitation } from '../../../base/problem.ts'

/** A movie's tracks for segments and for the index, in the same order. */
export interface DescribedInit {
  init: Fmp4Init
  tracks: (Track | undefined)[]
  /** Tracks that are not served. */
  limitations: Limitation[]
}

const SUBTITLES_LEFT_OUT: Limitation = {
  code: 'subtitles-not-served',
  cause: { code: 'fragmented-subtitles-unsupported' },
}

/** Throws `unplayable` if no track is playable. */
export async function describeInit(window: FileWindow, movie: Movie): Promise<DescribedInit> {
  const media = movie.tracks.filter((track) => track.kind !== 'subtitle')
  const { video, audioTracks, limitations } = await chooseTracks(window, media)
  const subtitles = movie.tracks.filter(({ kind }) => kind === 'subtitle')
  const described = [
    ...(video ? [describeTrack(movie, video, describeVideo)] : []),
    ...audioTracks.map((audio) => describeTrack(movie, audio, describeAudio)),
  ]
  return {
    init: { tracks: described.map(({ fragmentTrack }) => fragmentTrack) },
    tracks: described.map(({ track }) => track),
    limitations: [...movie.limitations, ...limitations, ...subtitles.map(() => SUBTITLES_LEFT_OUT)],
  }
}

/**
 * The tracks of a later movie in the order of the first, matched by key; further tracks are
 * dropped.
 */
export function matchInit(keys: readonly string[], later: DescribedInit): Fmp4Init {
  const left = trackKeys(later).map((key, at) => ({ key, track: later.init.tracks[at] }))
  const tracks = keys.map((requested) => {
    const at = left.findIndex(({ key }) => key === requested)
    return at < 0 ? undefined : left.splice(at, 1)[0]?.track
  })
  return { tracks }
}

/**
 * Keys to match the tracks of two movies: audio by language, and transcoded audio only with the
 * same format.
 */
export function trackKeys({ tracks }: DescribedInit): string[] {
  return tracks.map((track) => {
    if (track?.kind !== 'audio') return track?.kind ?? ''
    const { language = '', transcodedFrom } = track
    const { codec = '', channels = 0, sampleRate = 0 } = transcodedFrom ?? {}
    return JSON.stringify([language, codec, channels, sampleRate])
  })
}

/** Whether two movies describe the served tracks alike. */
export function isSameInit(a: Fmp4Init, b: Fmp4Init): boolean {
  return initKey(a) === initKey(b)
}

function initKey({ tracks }: Fmp4Init): string {
  return JSON.stringify(tracks, (_, value: unknown) =>
    ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
      : value,
  )
}

type SomeDescription = Mp4Description & Pick<AudioDescription, 'pcmFrameBytes'>

function describeTrack<Playable extends VideoDescription | AudioDescription>(
  movie: Movie,
  { track, descriptions }: ChosenTrack<Playable>,
  describe: (description: Playable, track: MovieTrack) => Track,
): { fragmentTrack: Fmp4Track | undefined; track: Track | undefined } {
  const playable = descriptions.map((each) => (each.status === 'playable' ? each : undefined))
  const first = playable.find((each) => each !== undefined)
  const defaults = movie.fragmentDefaults?.get(track.id)
  if (first === undefined || defaults === undefined) {
    return { fragmentTrack: undefined, track: undefined }
  }
  return {
    fragmentTrack: {
      kind: track.kind === 'video' ? 'video' : 'audio',
      id: track.id,
      ...createFragmentClock(movie, track),
      defaults,
      descriptions: playable.map((each) => each && plainDescription(each)),
      ...('pcmFrameBytes' in first && { packetSamples: PCM_PACKET_SAMPLES }),
      ...(track.kind === 'video' && !isIdentity(track.matrix) && { matrix: track.matrix }),
      width: track.kind === 'video' ? track.width : 0,
      height: track.kind === 'video' ? track.height : 0,
    },
    track: describe(first, track),
  }
}

function plainDescription({ sampleEntry, decoder }: SomeDescription): Mp4Description {
  return { ...(sampleEntry && { sampleEntry }), ...(decoder && { decoder }) }
}

/** Applies edit lists like those of a movie without fragments, but without a known end. */
function createFragmentClock(
  movie: Movie,
  track: MovieTrack,
): Pick<Fmp4Track, 'fileTimescale' | 'timescale' | 'tickScale' | 'editTicks'> {
  const fileTimescale = track.timescale
  const tickScale = Math.ceil(MIN_TIMESCALE / fileTimescale)
  const timescale = fileTimescale * tickScale
  const editSeconds = foldEdits(track.edits, {
    movieTimescale: movie.timescale,
    trackTimescale: fileTimescale,
    mediaEndTicks: Infinity,
  })
  const isPlausible = Math.abs(editSeconds) <= MAX_SESSION_SECONDS
  const editTicks = isPlausible ? Math.round(editSeconds * timescale) : 0
  return { fileTimescale, timescale, tickScale, editTicks }
}
