// Which track of a session is requested, for both sides.

interface Track {
  /** BCP 47. */
  language?: string | undefined
}

/** The language of a track without one (ISO 639-2). */
export const UNKNOWN_LANGUAGE = 'und'

/** RFC 5646 4.4.1 recommends 35 characters: no registered tag is longer. */
export const MAX_LANGUAGE_LENGTH = 35

/**
 * The key of a track in playlist URLs and in preferences: its language, and which one in that
 * language, if it is not the first: `en`, `en.2`, `und.2`.
 */
export function trackKey(tracks: readonly Track[], at: number): string {
  const languages = tracks.map(languageOf)
  const language = languages[at] ?? UNKNOWN_LANGUAGE
  const ordinal = languages.slice(0, at + 1).filter((other) => other === language).length
  return ordinal > 1 ? `${language}.${ordinal}` : language
}

/**
 * Position of the track with this key, else of the first in its language, else of the first in a
 * dialect of it; -1 if there is none.
 */
export function findTrack(tracks: readonly Track[], key: string): number {
  const [language = '', ordinal = '1'] = key.toLowerCase().split('.')
  const find = (isWanted: (language: string) => boolean) =>
    tracks.flatMap((track, at) => (isWanted(languageOf(track)) ? [at] : []))
  const exact = find((other) => other === language)
  const similar = find((other) => primaryOf(other) === primaryOf(language))
  return exact[Number(ordinal) - 1] ?? exact[0] ?? similar[0] ?? -1
}

function languageOf({ language }: Track): string {
  return (language || UNKNOWN_LANGUAGE).toLowerCase()
}

/** `en` of `en-us`. */
function primaryOf(language: string): string {
  return language.split('-', 1)[0] ?? ''
}
