// Month and weekday of a session's date, which is a string in the format of its recorder.
import { currentLanguage, startLarge } from '../language/translate.ts'
import { sessionDay } from '../../shared/session-day.ts'

/** A day of the Gregorian calendar. */
export interface SessionDay {
  /** `2026-01-31`. */
  isoDate: string
  /** `2026-01`. */
  month: string
  /** `Saturday`. */
  weekday: string
}

/** `undefined` if the date does not begin with a day that exists. */
export function parseSessionDay(date: string): SessionDay | undefined {
  const isoDate = sessionDay(date)
  if (isoDate === undefined) return undefined
  // A Sunday is the first of the days from which the names are taken.
  const weekday = format(`2023-01-0${new Date(isoDate).getUTCDay() + 1}`, { weekday: 'long' })
  return { isoDate, month: isoDate.slice(0, 7), weekday }
}

/** `2026-02` -> `February 2026`. */
export function formatMonth(month: string): string {
  return startLarge(format(month, { month: 'long', year: 'numeric' }))
}

/** Seven weekdays, and the months that are shown: a list may have thousands of sessions. */
const formatted = new Map<string, string>()

function format(isoDate: string, options: Intl.DateTimeFormatOptions): string {
  const known = formatted.get(isoDate)
  if (known !== undefined) return known
  const date = new Date(isoDate)
  const text = date.toLocaleDateString(currentLanguage(), { ...options, timeZone: 'UTC' })
  formatted.set(isoDate, text)
  return text
}
