// The audio and subtitle renditions of a recording. Pure.
import { MAX_LANGUAGE_LENGTH, UNKNOWN_LANGUAGE } from '../../../../shared/find-track.ts'
import type {
  AudioTrack,
  MediaIndex,
  SubtitleCue,
  SubtitleTrack,
} from '../../../media/media-index.ts'
import type { SegmentForm } from './segment-names.ts'

/** Numbers of offered tracks; of a growing recording those when it was first listed. */
export interface RenditionCounts {
  audioTracks: number
  subtitles: number
}

interface Labelled {
  /** Unique among all renditions of its kind. */
  name: string
  /** BCP 47. */
  language?: string
  /** Then players may select it by its language (AUTOSELECT). */
  isFirstOfLanguage: boolean
}

export interface AudioRendition extends Labelled {
  /** 0 is the default audio, which is muxed with the video. */
  number: number
  /** Index in `MediaIndex.tracks`. */
  track: number
  codec: string
  channels: number
}

export interface SubtitleRendition extends Labelled {
  id: string
  isDefault: boolean
  cues: readonly SubtitleCue[]
}

export interface Renditions {
  audioTracks: readonly AudioRendition[]
  subtitles: readonly SubtitleRendition[]
}

/** A subtitle file next to a recording. */
export interface SubtitleSidecar extends SubtitleTrack {
  /** Hash of its content. */
  version: string
}

/** The part of an index that lists tracks. */
export type TrackLists = Pick<MediaIndex, 'tracks' | 'subtitles'>

/** The numbers of tracks in an index. */
export function countRenditions({ tracks, subtitles = [] }: TrackLists): RenditionCounts {
  return {
    audioTracks: tracks.filter(({ kind }) => kind === 'audio').length,
    subtitles: subtitles.length,
  }
}

/** Segments of MPEG-TS have no separate audio renditions. */
export function listRenditions(
  index: TrackLists,
  form: SegmentForm,
  { counts, sidecars }: { counts: RenditionCounts; sidecars: readonly SubtitleSidecar[] },
): Renditions {
  const tracks = index.tracks.flatMap((track, at) => (track.kind === 'audio' ? { track, at } : []))
  const offered = tracks.slice(0, form === 'ts' ? 1 : Math.max(1, counts.audioTracks))
  const labelAudio = createLabels('Audio')
  const labelSubtitles = createLabels('Subtitles')
  const own = (index.subtitles ?? []).slice(0, counts.subtitles)
  const subtitles = [
    ...own.map((track, i) => ({ track, id: String(i) })),
    ...sidecars.map((track, i) => ({ track, id: `${own.length + i}-${track.version}` })),
  ]
  const defaultSubtitle = subtitles.findIndex(({ track }) => track.isDefault)
  return {
    audioTracks: offered.map(({ track, at }, number) =>
      audioRendition(track, { at, number, labelAudio }),
    ),
    subtitles: subtitles.map(({ track, id }, i) => ({
      id,
      cues: track.cues,
      isDefault: i === defaultSubtitle,
      ...labelSubtitles(track),
    })),
  }
}

function audioRendition(
  track: AudioTrack,
  { at, number, labelAudio }: { at: number; number: number; labelAudio: Labeller },
): AudioRendition {
  const { codec, channels } = track
  return { number, track: at, codec, channels, ...labelAudio(track) }
}

type Labeller = (track: { language?: string; name?: string }) => Labelled

/** Unique names (RFC 8216 4.3.4.1.1): the track's own, else its language, else a number. */
function createLabels(fallback: string): Labeller {
  const used = new Set<string>()
  const languages = new Set<string>()
  let count = 0
  return (track) => {
    count += 1
    const language = track.language === undefined ? undefined : canonicalLanguage(track.language)
    const preferred =
      track.name?.trim() || (language && languageName(language)) || `${fallback} ${count}`
    const name = used.has(preferred) ? `${preferred} (${count})` : preferred
    used.add(name)
    const isFirstOfLanguage = language !== undefined && !languages.has(language)
    if (language !== undefined) languages.add(language)
    return { name, isFirstOfLanguage, ...(language && { language }) }
  }
}

/** Converts ISO 639-2 as in containers (`ger`) to BCP 47 (`de`). */
function canonicalLanguage(tag: string): string | undefined {
  try {
    const [language] = Intl.getCanonicalLocales(tag.replaceAll('_', '-'))
    const isUsable = language !== UNKNOWN_LANGUAGE && (language?.length ?? 0) <= MAX_LANGUAGE_LENGTH
    return isUsable ? language : undefined
  } catch {
    // RangeError: not a language tag.
    return undefined
  }
}

/** The language's own name: `Deutsch`. */
function languageName(language: string): string | undefined {
  return new Intl.DisplayNames([language], { type: 'language', fallback: 'none' }).of(language)
}
