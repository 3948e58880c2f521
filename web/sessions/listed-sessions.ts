// The sessions of a streamer as the page lists them: with details, filtered, grouped by month.
import type { DetailsResponse, SessionItem } from '../../shared/contract.ts'
import { joinDetails } from '../api/join-details.ts'
import type { DescribedSession } from '../api/join-details.ts'
import { translate } from '../language/translate.ts'
import { formatMonth, parseSessionDay } from './session-date.ts'
import type { SessionDay } from './session-date.ts'

export interface ListedSession extends SessionItem, DescribedSession {
  /** Absent if the date is not a day. */
  day: SessionDay | undefined
}

/** Consecutive sessions of one month: those with index `start` to `end` (exclusive). */
export interface MonthGroup {
  /** Unique in the list, and the same in a filtered one. */
  key: string
  /** `February 2026`. */
  label: string
  start: number
  end: number
}

export interface SessionFilter {
  /** Contained in title, date or id, or words of the day (`tue`, `3 march`); '' matches all. */
  query: string
  /** `2026-02`, or `other`; '' matches all. */
  month: string
}

/** The month of all dates that are not days. */
const OTHER = 'other'

/** Adds the details, which may be missing or older than the list. */
export function describeSessions(
  sessions: readonly SessionItem[],
  details: DetailsResponse['sessions'],
): ListedSession[] {
  return joinDetails(sessions, details).map((session) => ({
    ...session,
    day: parseSessionDay(session.date),
  }))
}

/** The same array if nothing is filtered. */
export function filterSessions(
  sessions: ListedSession[],
  { query, month }: SessionFilter,
): ListedSession[] {
  const wanted = fold(query.trim())
  if (wanted === '' && month === '') return sessions
  return sessions.filter(
    (session) =>
      (month === '' || monthOf(session) === month) &&
      ([session.title ?? '', session.date, session.sessionId].some((text) =>
        fold(text).includes(wanted),
      ) ||
        isDay(session.day, wanted)),
  )
}

/** Whether each word of the query is the start of a word of `Tuesday 3 March 2026`. */
function isDay(day: SessionDay | undefined, wanted: string): boolean {
  const words = day
    ? splitWords(fold(`${day.weekday} ${Number(day.isoDate.slice(8))} ${formatMonth(day.month)}`))
    : []
  return splitWords(wanted).every((start) => words.some((word) => word.startsWith(start)))
}

/** In `2026年3月` too. */
function splitWords(text: string): string[] {
  return text.split(/\s+|(?<=年)/)
}

/** Titles may be in any Unicode normal form. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** The months of the sessions in their order, as value and label. */
export function listMonths(sessions: readonly ListedSession[]): { value: string; label: string }[] {
  const months = new Set(sessions.map(monthOf))
  return [...months].map((value) => ({ value, label: labelOf(value) }))
}

export function groupByMonth(sessions: readonly ListedSession[]): MonthGroup[] {
  const groups: (MonthGroup & { month: string })[] = []
  for (const [index, session] of sessions.entries()) {
    const month = monthOf(session)
    const last = groups.at(-1)
    if (last?.month === month) {
      last.end = index + 1
      continue
    }
    // Dates in several formats: a month may occur again.
    const earlier = groups.filter((group) => group.month === month).length
    const key = `${month}/${earlier}`
    groups.push({ key, month, label: labelOf(month), start: index, end: index + 1 })
  }
  return groups
}

function monthOf({ day }: ListedSession): string {
  return day?.month ?? OTHER
}

function labelOf(month: string): string {
  return month === OTHER ? translate('Other dates') : formatMonth(month)
}
