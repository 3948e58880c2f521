// The sounds and texts that a recording is offered with. Pure.
import type { AudioTrack, MediaIndex, TextCue, TextTrack } from '../media/media-index.ts'
import type { SegmentForm } from './segment-names.ts'

/** How much of what a recording holds is offered: of one that grows, what it held when it was first listed. */
export interface RenditionCounts {
  sounds: number
  texts: number
}

interface Labelled {
  /** Unique among its kind. */
  name: string
  /** BCP 47. */
  language?: string
  /** The first of its language: a player may choose it by that. */
  isChosenByLanguage: boolean
}

export interface SoundRendition extends Labelled {
  /** 0 is the default sound, which comes with the pictures. */
  number: number
  /** Number of the track in `MediaIndex.tracks`. */
  track: number
  codec: string
  channels: number
}

export interface TextRendition extends Labelled {
  id: string
  isDefault: boolean
  cues: readonly TextCue[]
}

export interface Renditions {
  sounds: readonly SoundRendition[]
  texts: readonly TextRendition[]
}

/** A text beside a recording; `version` stands for its content. */
export interface SidecarText extends TextTrack {
  version: string
}

/** What of an index says what there is. */
export type TracksAndTexts = Pick<MediaIndex, 'tracks' | 'texts'>

/** What there is to count in an index. */
export function countRenditions({ tracks, texts = [] }: TracksAndTexts): RenditionCounts {
  return { sounds: tracks.filter(({ kind }) => kind === 'audio').length, texts: texts.length }
}

/** Sounds of MPEG-TS segments are never apart. */
export function listRenditions(
  index: TracksAndTexts,
  form: SegmentForm,
  { counts, sidecars }: { counts: RenditionCounts; sidecars: readonly SidecarText[] },
): Renditions {
  const tracks = index.tracks.flatMap((track, at) => (track.kind === 'audio' ? { track, at } : []))
  const offered = tracks.slice(0, form === 'ts' ? 1 : Math.max(1, counts.sounds))
  const labelSound = createLabels('Sound')
  const labelText = createLabels('Subtitles')
  const own = (index.texts ?? []).slice(0, counts.texts)
  const texts = [
    ...own.map((text, i) => ({ text, id: String(i) })),
    ...sidecars.map((text, i) => ({ text, id: `${own.length + i}-${text.version}` })),
  ]
  const defaultText = texts.findIndex(({ text }) => text.isDefault)
  return {
    sounds: offered.map(({ track, at }, number) =>
      soundRendition(track, { at, number, labelSound }),
    ),
    texts: texts.map(({ text, id }, i) => ({
      id,
      cues: text.cues,
      isDefault: i === defaultText,
      ...labelText(text),
    })),
  }
}

function soundRendition(
  track: AudioTrack,
  { at, number, labelSound }: { at: number; number: number; labelSound: Labeller },
): SoundRendition {
  const { codec, channels } = track
  return { number, track: at, codec, channels, ...labelSound(track) }
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
