// The chapters of a session and its clock. Pure.
import { currentLanguage } from '../../../language/translate.ts'

export interface Chapter {
  startSeconds: number
  title: string
}

/** The chapter at a position; undefined before the first one. `chapters` are in order. */
export function chapterAt(chapters: readonly Chapter[], seconds: number): Chapter | undefined {
  return chapters.findLast(({ startSeconds }) => startSeconds <= seconds)
}

/** The time of day at a position, in the visitor's language and zone. */
export function timeOfDay(startTime: string, seconds: number): string | undefined {
  const startMs = Date.parse(startTime)
  if (Number.isNaN(startMs)) return undefined
  // English is also for visitors whose language the page does not have.
  const locale = currentLanguage() === 'en' ? undefined : currentLanguage()
  const time = new Date(startMs + seconds * 1000)
  return time.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' })
}
