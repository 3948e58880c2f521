// The values of arguments and options of the command line; an unusable one is an error.
import { InvalidArgumentError } from 'commander'
import { MAX_REASON_LENGTH, parseNameToHide } from '../../shared/name-to-hide.ts'
import type { NameToHide } from '../../shared/name-to-hide.ts'
import { foldUser } from '../base/clean-text.ts'
import { isDatabaseUrl } from '../base/config/database-url.ts'

export const NAME_FORM = 'STREAMER[/DATE/ID]'
/** About a century. */
const MAX_AGE_DAYS = 36_525
const MAX_DAYS = 800

export function parseName(value: string): NameToHide {
  const name = parseNameToHide(value)
  if (name !== undefined) return name
  throw new InvalidArgumentError(`It must be ${NAME_FORM}.`)
}

export function parseChatUser(value: string): string {
  const user = foldUser(value)
  if (user !== undefined) return user
  throw new InvalidArgumentError('It must be a name as the chat shows it.')
}

/** Returns days. */
export function parseAge(value: string): number {
  const { count = '', unit } = /^(?<count>\d{1,6})(?<unit>[dw])$/.exec(value)?.groups ?? {}
  const days = Number(count) * (unit === 'w' ? 7 : 1)
  if (days >= 1 && days <= MAX_AGE_DAYS) return days
  throw new InvalidArgumentError('It must be a number of days or weeks, such as 30d or 8w.')
}

export function parseReason(value: string): string {
  if (value.length <= MAX_REASON_LENGTH) return value
  throw new InvalidArgumentError(`It must have at most ${MAX_REASON_LENGTH} characters.`)
}

export function parseDays(value: string): number {
  const days = /^\d+$/.test(value) ? Number(value) : 0
  if (days >= 1 && days <= MAX_DAYS) return days
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_DAYS}.`)
}

export function parseDatabaseUrl(value: string): string {
  if (isDatabaseUrl(value)) return value
  throw new InvalidArgumentError('It must be postgres://user:password@host/database.')
}
