// Finds dates in the formats that recorders write into names, by position, without regular
// expressions.

/** Separators between the parts of a day: `2026-01-31`, `2026_01_31`, `2026.01.31`, `20260131`. */
const daySeparators = ['-', '_', '.', '']
/** Separators between day and time. */
const timeLeaders = ['_', '-', 'T', ' ']
/**
 * Separators between the parts of a time: `20-15-00`, `20_15_00`, `20:15:00`, `20.15.00`, `201500`.
 */
const timeSeparators = ['-', '_', ':', '.', '']
/** Most digits of a fraction of a second (microseconds). */
const MAX_FRACTION_DIGITS = 6
const UNIX_TIME_DIGITS = 13
/** The first time with 13 digits, in September 2001. */
const EARLIEST_UNIX_MS = 1e12

/**
 * Ends (exclusive) of all dates that start at `start`, longest first: `2026-01-31_20-15-00` yields
 * the full date and time, the date with hours and minutes, and the day. A Unix time in milliseconds
 * is a date too.
 */
export function dateEnds(text: string, start: number): number[] {
  const unixEnd = endOfUnixTime(text, start)
  const ends = new Set<number>(unixEnd === undefined ? [] : [unixEnd])
  for (const separator of daySeparators) {
    const dayEnd = endOfDay(text, start, separator)
    if (dayEnd === undefined) continue
    ends.add(dayEnd)
    for (const end of timeEnds(text, dayEnd)) ends.add(end)
  }
  return [...ends].toSorted((a, b) => b - a)
}

/** End of a Unix time in milliseconds, written as 13 digits. */
function endOfUnixTime(text: string, start: number): number | undefined {
  const end = start + UNIX_TIME_DIGITS
  const timeMs = isDigit(text, end) ? undefined : numberAt(text, start, UNIX_TIME_DIGITS)
  return timeMs !== undefined && timeMs >= EARLIEST_UNIX_MS ? end : undefined
}

/** Beyond, there is no calendar (ECMAScript 21.4.1.1); file systems store such times, too. */
const LATEST_MS = 8.64e15

/** The UTC day of a time, as `2026-01-31`; that of time 0 for one without a day. */
export function utcDay(timeMs: number): string {
  const hasDay = Math.abs(timeMs) <= LATEST_MS
  return new Date(hasDay ? timeMs : 0).toISOString().slice(0, 10)
}

function endOfDay(text: string, start: number, separator: string): number | undefined {
  const year = numberAt(text, start, 4)
  const monthAt = after(text, start + 4, separator)
  if (year === undefined || monthAt === undefined) return undefined
  const month = numberAt(text, monthAt, 2)
  const dayAt = after(text, monthAt + 2, separator)
  if (month === undefined || dayAt === undefined) return undefined
  const day = numberAt(text, dayAt, 2)
  if (day === undefined || month < 1 || month > 12 || day < 1 || day > 31) return undefined
  return dayAt + 2
}

function timeEnds(text: string, dayEnd: number): number[] {
  if (!timeLeaders.includes(text.charAt(dayEnd))) return []
  return timeSeparators.flatMap((separator) => clockEnds(text, dayEnd + 1, separator))
}

function clockEnds(text: string, start: number, separator: string): number[] {
  if (!isBelow(numberAt(text, start, 2), 24)) return []
  const minuteAt = after(text, start + 2, separator)
  if (minuteAt === undefined || !isBelow(numberAt(text, minuteAt, 2), 60)) return []
  const minuteEnd = minuteAt + 2
  // Four digits alone are as likely an id as a time.
  const ends = separator === '' ? [] : withZone(text, minuteEnd)
  const secondAt = after(text, minuteEnd, separator)
  if (secondAt === undefined || !isBelow(numberAt(text, secondAt, 2), 61)) return ends
  const secondEnd = secondAt + 2
  const fractionEnd = endOfFraction(text, secondEnd)
  const fraction = fractionEnd === undefined ? [] : withZone(text, fractionEnd)
  return [...ends, ...withZone(text, secondEnd), ...fraction]
}

/** `.123`, `-123456`: three to six digits. */
function endOfFraction(text: string, start: number): number | undefined {
  if (!['.', '-'].includes(text.charAt(start))) return undefined
  let end = start + 1
  while (end - start <= MAX_FRACTION_DIGITS && isDigit(text, end)) end += 1
  return end - start > 3 && !isDigit(text, end) ? end : undefined
}

/**
 * `end` itself, and the end after `Z`, `+0100`, `+01:00` or `-05:00`. Four digits after a minus are
 * ambiguous.
 */
function withZone(text: string, end: number): number[] {
  const sign = text.charAt(end)
  if (sign === 'Z') return [end, end + 1]
  if (!['+', '-'].includes(sign) || numberAt(text, end + 1, 2) === undefined) return [end]
  const minuteAt = after(text, end + 3, ':') ?? (sign === '+' ? end + 3 : undefined)
  if (minuteAt === undefined || numberAt(text, minuteAt, 2) === undefined) return [end]
  return [end, minuteAt + 2]
}

function after(text: string, position: number, separator: string): number | undefined {
  return text.startsWith(separator, position) ? position + separator.length : undefined
}

function numberAt(text: string, start: number, digits: number): number | undefined {
  for (let at = start; at < start + digits; at += 1) if (!isDigit(text, at)) return undefined
  return Number(text.slice(start, start + digits))
}

function isBelow(value: number | undefined, limit: number): boolean {
  return value !== undefined && value < limit
}

export function isDigit(text: string, position: number): boolean {
  const code = text.charCodeAt(position)
  return code >= 48 && code <= 57
}
