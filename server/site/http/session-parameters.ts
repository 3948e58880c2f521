// Parses what a URL names. Streamer, date and session id are catalog keys, never parts of a file
// path.
import { MAX_LANGUAGE_LENGTH } from '../../../shared/find-track.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { AppError } from '../../base/errors.ts'
import { QUALITIES } from '../../stream/hls/session/session-qualities.ts'
import type { Quality } from '../../stream/hls/session/session-qualities.ts'

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

/** Quality of a playlist in the query. @throws AppError `no_such_quality` */
export function parseQuality(query: unknown): Quality | undefined {
  const quality: unknown = typeof query === 'object' && query && Reflect.get(query, 'quality')
  if (quality === undefined) return undefined
  const known = QUALITIES.find((each) => each === quality)
  if (known !== undefined) return known
  throw new AppError('no_such_quality', 'there is no such quality')
}

/** `trackKey`. */
const AUDIO = new RegExp(`^[A-Za-z0-9-]{1,${MAX_LANGUAGE_LENGTH}}(?:\\.\\d{1,3})?$`)

/** Key of an audio track in the query. @throws AppError `invalid` */
export function parseAudio(query: unknown): string | undefined {
  const audio: unknown = typeof query === 'object' && query && Reflect.get(query, 'audio')
  if (audio === undefined) return undefined
  if (typeof audio === 'string' && AUDIO.test(audio)) return audio
  throw new AppError('invalid', "'audio' is not the language of a track")
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
