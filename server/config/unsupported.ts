// Rejects values that the schema allows but this version does not support.
import type { z } from 'zod'
import type { configSchema } from './schema.ts'

type Values = z.output<typeof configSchema>

/** A problem with one key. */
export interface Problem {
  key: string
  message: string
}

/** Every key with an unsupported value. */
export function findUnsupported(values: Values): Problem[] {
  const { database } = values
  return [
    ...refuse(
      'database',
      database !== undefined,
      'only SQLite in the data folder is supported so far',
    ),
  ]
}

function refuse(key: string, isRefused: boolean | undefined, message: string): Problem[] {
  return isRefused === true ? [{ key, message }] : []
}
