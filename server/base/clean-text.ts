// Untrusted text for the page: without control and bidi characters, and of limited length. Pure.

/** Limits of the contract, in UTF-16 code units. */
export const MAX_TITLE_LENGTH = 300
export const MAX_DESCRIPTION_LENGTH = 5000

/** Only the start of a longer string is read: this multiple of its limit. */
const READ_FACTOR = 16

/** Line ends, also those of Unicode. */
const LINE_ENDS = /\r\n|[\r\n\u0085\u2028\u2029]/g
/** Other control characters, bidi controls that override, annotations, byte order marks. */
const REMOVED = /(?![\t\n])\p{Cc}|[\u202A-\u202E\u2066-\u2069\uFFF9-\uFFFB\uFEFF]/gu

/** A title: one line; undefined for another type, or if nothing is left. */
export function cleanTitle(value: unknown): string | undefined {
  return cleanLine(value, MAX_TITLE_LENGTH)
}

/** One line of at most `maxLength` UTF-16 code units; undefined as for `cleanTitle`. */
export function cleanLine(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string') return undefined
  const head = value.slice(0, maxLength * READ_FACTOR)
  const line = head.replaceAll(LINE_ENDS, ' ').replaceAll(REMOVED, '').replaceAll(/\s+/g, ' ')
  return cut(line, maxLength)
}

/** Of names of a chat's users. */
export const MAX_USER_LENGTH = 100

/**
 * The name of a chat's user, equal for all spellings that differ in case or normalisation;
 * undefined as for `cleanTitle`.
 */
export function foldUser(name: unknown): string | undefined {
  return cleanLine(name, MAX_USER_LENGTH)?.normalize('NFC').toLowerCase()
}

/** A description, with lines that end with `\n`; undefined as for `cleanTitle`. */
export function cleanDescription(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const head = value.slice(0, MAX_DESCRIPTION_LENGTH * READ_FACTOR)
  const lines = head.replaceAll(LINE_ENDS, '\n').replaceAll('\t', ' ').replaceAll(REMOVED, '')
  return cut(lines, MAX_DESCRIPTION_LENGTH)
}

/** Never ends in the middle of a surrogate pair. */
function cut(text: string, maxLength: number): string | undefined {
  const start = text.toWellFormed().replaceAll('\uFFFD', '').trim().slice(0, maxLength)
  const whole = start.isWellFormed() ? start : start.slice(0, -1)
  return whole.trim() || undefined
}
