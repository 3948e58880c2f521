// Finds the start time of a recording in its names.
import { dateEnds, isDigit } from './date-name.ts'
import { parseRecordingName } from './recording-name.ts'

/** Names of a recording that may contain its start time, as written. */
export interface NamesOfRecording {
  date: string
  sessionId: string
  /** File name without extension, or name of the session folder. */
  fileName: string
}

/** Numbers outside this range are not the start of a recording. */
const EARLIEST_MS = Date.UTC(1990, 0, 1)
const LATEST_MS = Date.UTC(2200, 0, 1)
const MILLISECOND_DIGITS = 13
const SECOND_DIGITS = 10
/** `20260131_20-15`; anything shorter is a day or a Unix time. */
const SHORTEST_MOMENT = 14
const ZONED = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

/**
 * Start time in milliseconds since 1970; undefined if no name contains a date with a time. The file
 * name takes precedence over the session id, and that over the date. A time without `Z` or offset
 * is in the server's time zone.
 */
export function startTimeMs({ date, sessionId, fileName }: NamesOfRecording): number | undefined {
  return (
    momentInText(fileName) ??
    unixTimeMs(fileName) ??
    momentInText(sessionId) ??
    unixTimeMs(sessionId) ??
    momentInText(date) ??
    unixTimeMs(date)
  )
}

/** The same of a recording in the catalog, by its names and that of its file or folder. */
export function startOfNames(recording: {
  date: string
  sessionId: string
  kind: 'file' | 'folder'
  name: string
}): number | undefined {
  const { date, sessionId, kind, name } = recording
  const file = kind === 'file' ? parseRecordingName(name) : undefined
  return startTimeMs({ date, sessionId, fileName: file?.base ?? name })
}

/**
 * The Unix time at the end of a name: 13 digits (milliseconds) as the whole name or after a
 * separator, 10 digits (seconds) only after a dot, since video ids have as many.
 */
export function unixTimeMs(name: string): number | undefined {
  let start = name.length
  while (start > 0 && isDigit(name, start - 1)) start -= 1
  const digits = name.slice(start)
  const before = name.charAt(start - 1)
  if (digits.length === MILLISECOND_DIGITS && ['', '.', '_', '-'].includes(before)) {
    return plausibleStart(Number(digits))
  }
  return digits.length === SECOND_DIGITS && before === '.'
    ? plausibleStart(Number(digits) * 1000)
    : undefined
}

/** The first date with a time of day. */
function momentInText(text: string): number | undefined {
  for (let start = 0; start < text.length; start += 1) {
    if (!isDigit(text, start) || isDigit(text, start - 1)) continue
    for (const end of dateEnds(text, start)) {
      const moment = isDigit(text, end) ? undefined : parseMoment(text.slice(start, end))
      if (moment !== undefined) return moment
    }
  }
  return undefined
}

/** Parses a date in one of the formats of `dateEnds`; undefined without a time. */
function parseMoment(text: string): number | undefined {
  const { clock, offsetMs } = splitZone(text)
  const digits = digitsOf(clock)
  const part = (start: number, end: number): number => Number(digits.slice(start, end))
  const year = part(0, 4)
  const [month, day] = [part(4, 6), part(6, 8)]
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate()
  if (clock.length < SHORTEST_MOMENT || year < 1000 || day > lastDay) return undefined
  const fields = [
    year,
    month - 1,
    day,
    part(8, 10),
    part(10, 12),
    part(12, 14),
    Number(digits.slice(14, 17).padEnd(3, '0')),
  ] as const
  if (offsetMs === undefined) return plausibleStart(new Date(...fields).getTime())
  return plausibleStart(Date.UTC(...fields) - offsetMs)
}

/** Removes a trailing `Z`, `+0100`, `+01:00` or `-05:00`. */
function splitZone(text: string): { clock: string; offsetMs: number | undefined } {
  const zone = /(?:Z|\+\d\d:?\d\d|-\d\d:\d\d)$/.exec(text)
  if (zone === null || zone.index < SHORTEST_MOMENT) return { clock: text, offsetMs: undefined }
  const digits = digitsOf(zone[0]).padEnd(4, '0')
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2, 4))
  const sign = zone[0].startsWith('-') ? -1 : 1
  return { clock: text.slice(0, zone.index), offsetMs: sign * minutes * 60_000 }
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '')
}

/** A plausible start in whole milliseconds since 1970. */
export function plausibleStart(timeMs: number | null): number | undefined {
  return timeMs !== null && timeMs >= EARLIEST_MS && timeMs < LATEST_MS
    ? Math.round(timeMs)
    : undefined
}

/** The start in ISO 8601 with a time and a zone; a date alone is none. */
export function zonedStart(value: unknown): number | undefined {
  const text = typeof value === 'string' ? value.trim() : ''
  return ZONED.test(text) ? plausibleStart(Date.parse(text)) : undefined
}
