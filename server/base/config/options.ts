// Lists the configuration keys from the schema, for the environment, the command line and
// docs/configuration.md.
import { z } from 'zod'
import { configSchema, optionNotes } from './schema.ts'

/** One key of the configuration. */
export interface ConfigOption {
  /** Full key, parts joined by dots: `server.port`. */
  key: string
  /** How a string from the environment or the command line is parsed. */
  kind: 'text' | 'number' | 'boolean' | 'list' | 'map'
  about: string
  environment?: string
  /** The default as a plain value, if it is one. */
  defaultValue?: unknown
  /** The default in words, if it is not a plain value. */
  fallback?: string
  /** How a list is separated in the environment. Default by commas. */
  separator?: 'newline'
}

/** Every key, in the schema's order. */
export function listConfigOptions(): ConfigOption[] {
  return optionsOf(configSchema, '')
}

function optionsOf(schema: z.ZodObject, prefix: string): ConfigOption[] {
  return Object.entries(schema.shape).flatMap(([name, member]) => {
    const key = prefix + name
    const note = optionNotes.get(member)
    if (note) return [{ key, kind: kindOf(unwrap(member)), ...note, ...defaultOf(member) }]
    const section = unwrap(member)
    return section instanceof z.ZodObject ? optionsOf(section, `${key}.`) : []
  })
}

function defaultOf(schema: unknown): Pick<ConfigOption, 'defaultValue'> {
  return schema instanceof z.ZodDefault ? { defaultValue: schema.def.defaultValue } : {}
}

function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return schema.unwrap()
  if (schema instanceof z.ZodPrefault) return schema.unwrap()
  return schema
}

function kindOf(schema: unknown): ConfigOption['kind'] {
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodBoolean) return 'boolean'
  if (schema instanceof z.ZodArray) return 'list'
  if (schema instanceof z.ZodRecord) return 'map'
  return 'text'
}
