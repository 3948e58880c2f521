// Values that the configuration's shape allows and this version cannot honour: told at the start, not ignored.
import type { z } from 'zod'
import type { configSchema } from './schema.ts'

type Values = z.output<typeof configSchema>

/** What is wrong with one key. */
export interface Problem {
  key: string
  message: string
}

/** Every key whose value this version does not support. */
export function findUnsupported(values: Values): Problem[] {
  const { recordings, database } = values
  return [
    ...refuse('recordings', recordings?.includes('://'), 'only folders are supported yet'),
    ...refuse(
      'database',
      database !== undefined,
      'only SQLite in the data folder is supported yet',
    ),
  ]
}

function refuse(key: string, isRefused: boolean | undefined, message: string): Problem[] {
  return isRefused === true ? [{ key, message }] : []
}
