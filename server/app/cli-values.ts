// What the command line passes to commands, and the values of its arguments and options: one that
// is unusable is an error.
import { InvalidArgumentError } from 'commander'
import { MAX_REASON_LENGTH, parseNameToHide } from '../../shared/name-to-hide.ts'
import type { ChatUserToHide, NameToHide } from '../../shared/name-to-hide.ts'
import { foldUser } from '../base/clean-text.ts'
import { isDatabaseUrl } from '../base/config/database-url.ts'

/** Arguments of a command that reads the configuration. */
export interface CommandInput {
  /** Values by configuration key, as strings. */
  flags: Record<string, string | undefined>
  /** Path given with `--config`. */
  configFile?: string | undefined
}

/** Arguments of a command that fills the catalog. */
export interface FillInput extends CommandInput {
  /** Whether a catalog of other recordings or of another layout is rebuilt. */
  mayRebuild: boolean
}

/** Output of `check`. */
export interface CheckOptions {
  format: 'table' | 'json'
}

/** A name to hide or to show again. */
export interface HideChange {
  name: NameToHide | ChatUserToHide
  /** For the log; empty if none was given. */
  reason: string
}

/** Which sessions `hide --older-than` hides. */
export interface HideOlderOptions extends Pick<HideChange, 'reason'> {
  days: number
  /** Undefined: of all streamers. */
  streamer: string | undefined
  /** Only prints what it would hide. */
  isDryRun: boolean
}

/** Output of `stats`. */
export interface StatsOptions {
  /** Number of days, today included. */
  days: number
  format: 'tables' | 'json'
}

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
