// The names of audio and subtitle tracks in a menu.
import { UNKNOWN_LANGUAGE } from '../../../../shared/find-track.ts'
import { currentLanguage, startLarge, translate } from '../../../language/translate.ts'

interface Track {
  label: string
  /** BCP 47. */
  language?: string | undefined
}

/**
 * The name of each language in that of the page, in English in itself: English is also for visitors
 * whose language the page does not have. With the label where several have the same language.
 */
export function nameTracks(tracks: readonly Track[]): string[] {
  const names = tracks.map(({ label, language }, at) => {
    return languageName(language) ?? (label || translate('Track {number}', { number: at + 1 }))
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
    const locale = currentLanguage() === 'en' ? language : currentLanguage()
    const names = new Intl.DisplayNames([locale], { type: 'language', fallback: 'none' })
    const name = names.of(language)
    return locale === language ? name : name && startLarge(name)
  } catch {
    // RangeError: not a language tag.
    return undefined
  }
}
