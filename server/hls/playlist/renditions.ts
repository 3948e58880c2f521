// The sounds and texts that a recording is offered with. Pure.
import type { AudioTrack, MediaIndex, SubtitleCue, SubtitleTrack } from '../../media/media-index.ts'
import type { SegmentForm } from './segment-names.ts'

/** How much of what a recording holds is offered: of one that grows, what it held when it was first listed. */
export interface RenditionCounts {
  audioTracks: number
  subtitles: number
}

interface Labelled {
  /** Unique among its kind. */
  name: string
  /** BCP 47. */
  language?: string
  /** The first of its language: a player may choose it by that. */
  isChosenByLanguage: boolean
}

export interface AudioRendition extends Labelled {
  /** 0 is the default sound, which comes with the pictures. */
  number: number
  /** Number of the track in `MediaIndex.tracks`. */
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

/** A text beside a recording; `version` stands for its content. */
export interface SubtitleSidecar extends SubtitleTrack {
  version: string
}

/** What of an index says what there is. */
export type TracksAndSubtitles = Pick<MediaIndex, 'tracks' | 'subtitles'>

/** What there is to count in an index. */
export function countRenditions({ tracks, subtitles = [] }: TracksAndSubtitles): RenditionCounts {
  return {
    audioTracks: tracks.filter(({ kind }) => kind === 'audio').length,
    subtitles: subtitles.length,
  }
}

/** Sounds of MPEG-TS segments are never apart. */
export function listRenditions(
  index: TracksAndSubtitles,
  form: SegmentForm,
  { counts, sidecars }: { counts: RenditionCounts; sidecars: readonly SubtitleSidecar[] },
): Renditions {
  const tracks = index.tracks.flatMap((track, at) => (track.kind === 'audio' ? { track, at } : []))
  const offered = tracks.slice(0, form === 'ts' ? 1 : Math.max(1, counts.audioTracks))
  const labelAudio = createLabels('Sound')
  const labelText = createLabels('Subtitles')
  const own = (index.subtitles ?? []).slice(0, counts.subtitles)
  const subtitles = [
    ...own.map((text, i) => ({ text, id: String(i) })),
    ...sidecars.map((text, i) => ({ text, id: `${own.length + i}-${text.version}` })),
  ]
  const defaultSubtitle = subtitles.findIndex(({ text }) => text.isDefault)
  return {
    audioTracks: offered.map(({ track, at }, number) =>
      audioRendition(track, { at, number, labelAudio }),
    ),
    subtitles: subtitles.map(({ text, id }, i) => ({
      id,
      cues: text.cues,
      isDefault: i === defaultSubtitle,
      ...labelText(text),
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

type Labeller = (said: { language?: string; name?: string }) => Labelled

/** Gives names that differ (RFC 8216 4.3.4.1.1): what the recording says, else the language, else a number. */
function createLabels(fallback: string): Labeller {
  const used = new Set<string>()
  const languages = new Set<string>()
  let count = 0
  return (said) => {
    count += 1
    const language = said.language === undefined ? undefined : canonicalLanguage(said.language)
    const wished =
      said.name?.trim() || (language && languageName(language)) || `${fallback} ${count}`
    const name = used.has(wished) ? `${wished} (${count})` : wished
    used.add(name)
    const isChosenByLanguage = language !== undefined && !languages.has(language)
    if (language !== undefined) languages.add(language)
    return { name, isChosenByLanguage, ...(language && { language }) }
  }
}

/** ISO 639-2 as containers write it (`ger`) becomes BCP 47 (`de`). */
function canonicalLanguage(text: string): string | undefined {
  try {
    const [language] = Intl.getCanonicalLocales(text.replaceAll('_', '-'))
    return language === 'und' ? undefined : language
  } catch {
    // RangeError: it is no language.
    return undefined
  }
}

/** In the language itself: `Deutsch`. */
function languageName(language: string): string | undefined {
  return new Intl.DisplayNames([language], { type: 'language', fallback: 'none' }).of(language)
}
