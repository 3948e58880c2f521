// The functions of shared/shape.ts with JSON Schemas (2020-12) in place of parsers. Loaded in its
// place, they turn the shapes of shared/contract.ts into schemas (contract-schemas.ts).
import type * as shape from '../../shared/shape.ts'

export interface Schema {
  [keyword: string]: unknown
  properties?: Record<string, Schema>
  required?: string[]
}

interface OptionalField {
  optional: Schema
}

export const string: Schema = { type: 'string' }
export const nonEmptyString: Schema = { type: 'string', minLength: 1 }
export const boolean: Schema = { type: 'boolean' }
export const number: Schema = { type: 'number' }
export const count: Schema = { type: 'integer', minimum: 0 }
export const amount: Schema = { type: 'number', minimum: 0 }

export function shortString(maxLength: number): Schema {
  return { type: 'string', maxLength }
}

export function literal(...values: string[]): Schema {
  return { type: 'string', enum: values }
}

export function optional(schema: Schema): OptionalField {
  return { optional: schema }
}

export function withDefault(schema: Schema, fallback: unknown): Schema {
  return { ...schema, default: fallback }
}

export function list(items: Schema, maxItems?: number): Schema {
  return { type: 'array', items, ...(maxItems !== undefined && { maxItems }) }
}

/** Without other fields, as the parser returns it. */
export function object(fields: Record<string, Schema | OptionalField>): Schema {
  const entries = Object.entries(fields)
  const required = entries.filter(([, field]) => !isOptional(field)).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, field]) => [name, isOptional(field) ? field.optional : field]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

export function record(schema: Schema): Schema {
  return { type: 'object', additionalProperties: schema }
}

export function union(...schemas: Schema[]): Schema {
  return { anyOf: schemas }
}

function isOptional(field: Schema | OptionalField): field is OptionalField {
  return typeof field.optional === 'object'
}

/** Every function that the contract may use. `parseShape` is for values. */
export const replaced = {
  string,
  nonEmptyString,
  shortString,
  boolean,
  number,
  count,
  amount,
  literal,
  optional,
  withDefault,
  list,
  object,
  record,
  union,
} satisfies Record<Exclude<keyof typeof shape, 'parseShape'>, unknown>
