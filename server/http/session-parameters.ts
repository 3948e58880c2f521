// Parses streamer, date and session id of a URL. They are catalog keys, never parts of a file path.
import type { SessionReference } from '../../shared/paths.ts'
import { AppError } from '../errors.ts'

/** Exceeds every name that a file system allows (255 bytes), in either normal form. */
const MAX_NAME_LENGTH = 1024

/** @throws AppError `invalid` for a name that no session can have */
export function parseSessionParameters(parameters: unknown): SessionReference {
  return {
    streamer: parseName(parameters, 'streamer'),
    date: parseName(parameters, 'date'),
    sessionId: parseName(parameters, 'sessionId'),
  }
}

/** One name of the URL, in NFC. @throws AppError `invalid` */
export function parseName(parameters: unknown, key: string): string {
  const values: object = typeof parameters === 'object' && parameters !== null ? parameters : {}
  const value: unknown = Reflect.get(values, key)
  if (typeof value !== 'string' || !isName(value)) {
    throw new AppError('invalid', `'${key}' is not a valid name`)
  }
  return value.normalize('NFC')
}

function isName(value: string): boolean {
  if (value === '' || value === '.' || value === '..') return false
  return (
    value.length <= MAX_NAME_LENGTH &&
    !value.includes('/') &&
    !value.includes('\0') &&
    value.isWellFormed()
  )
}
