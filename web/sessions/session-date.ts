// Month and weekday of a session's date, which is a string in the format of its recorder.
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

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** `undefined` if the date does not begin with a day that exists. */
export function parseSessionDay(date: string): SessionDay | undefined {
  const isoDate = sessionDay(date)
  if (isoDate === undefined) return undefined
  const weekday = WEEKDAYS[new Date(isoDate).getUTCDay()] ?? ''
  return { isoDate, month: isoDate.slice(0, 7), weekday }
}

/** `2026-02` -> `February 2026`. */
export function formatMonth(month: string): string {
  const [year = '', number = ''] = month.split('-')
  return `${MONTHS[Number(number) - 1] ?? number} ${year}`
}
