// The names of audio and subtitle tracks in a menu.
import { UNKNOWN_LANGUAGE } from '../../../../shared/find-track.ts'

interface Track {
  label: string
  /** BCP 47. */
  language?: string | undefined
}

/** The name of each language in itself, with the label where several have the same language. */
export function nameTracks(tracks: readonly Track[]): string[] {
  const names = tracks.map(({ label, language }, at) => {
    return languageName(language) ?? (label || `Track ${at + 1}`)
  })
  return tracks.map(({ label }, at) => {
    const name = names[at] ?? label
    const isUnique = names.indexOf(name) === names.lastIndexOf(name)
    if (isUnique || label === '') return name
    return label.startsWith(name) ? label : `${name} (${label})`
  })
}

/** `Deutsch`; undefined if the browser does not know it. */
function languageName(language: string | undefined): string | undefined {
  if (!language || language === UNKNOWN_LANGUAGE) return undefined
  try {
    return new Intl.DisplayNames([language], { type: 'language', fallback: 'none' }).of(language)
  } catch {
    // RangeError: not a language tag.
    return undefined
  }
}
