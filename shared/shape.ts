// Parsers for JSON values, composed from small ones: each shape is written once, and its type is
// inferred from it. The page cannot afford a schema library: its entry has a budget of 80 kB, zod
// has 23 kB and its small variant 7 kB (brotli).

/** Returns the value with only the fields of the shape; `undefined` if it has another shape. */
export type Shape<T> = (value: unknown) => T | undefined

/** The type of the values of a shape. */
export type Shaped<S extends Shape<unknown>> = Exclude<ReturnType<S>, undefined>

/** A field that may be missing. A value of another shape counts as missing. */
interface OptionalField<T> {
  optional: Shape<T>
}

type Fields = Record<string, Shape<unknown> | OptionalField<unknown>>
type ObjectOf<F extends Fields> = {
  [K in keyof F as F[K] extends Shape<unknown> ? K : never]: FieldValue<F[K]>
} & {
  [K in keyof F as F[K] extends Shape<unknown> ? never : K]?: FieldValue<F[K]> | undefined
}
type FieldValue<F> =
  F extends OptionalField<infer T> ? T : F extends Shape<unknown> ? Shaped<F> : never

/** The parsed value. Throws a TypeError if it has another shape. */
export function parseShape<T>(shape: Shape<T>, value: unknown): T {
  const parsed = shape(value)
  if (parsed === undefined) throw new TypeError('unexpected JSON')
  return parsed
}

export const string: Shape<string> = (value) => (typeof value === 'string' ? value : undefined)

export const nonEmptyString: Shape<string> = (value) => (value === '' ? undefined : string(value))

/** A string of at most `maxLength` UTF-16 code units. */
export function shortString(maxLength: number): Shape<string> {
  return (value) => (typeof value === 'string' && value.length <= maxLength ? value : undefined)
}

export const boolean: Shape<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)

export const number: Shape<number> = (value) => (typeof value === 'number' ? value : undefined)

/** A non-negative integer. */
export const count: Shape<number> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** A non-negative number. */
export const amount: Shape<number> = (value) =>
  typeof value === 'number' && value >= 0 && value < Infinity ? value : undefined

export function literal<const T extends string>(...values: T[]): Shape<T> {
  return (value) => values.find((candidate) => candidate === value)
}

export function optional<T>(shape: Shape<T>): OptionalField<T> {
  return { optional: shape }
}

/** Parses a value of another shape to `fallback`. */
export function withDefault<T>(shape: Shape<T>, fallback: T): Shape<T> {
  return (value) => shape(value) ?? fallback
}

/** An array of at most `maxItems`. */
export function list<T>(shape: Shape<T>, maxItems = Infinity): Shape<T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length > maxItems) return undefined
    const items: T[] = []
    for (const entry of value) {
      const item = shape(entry)
      if (item === undefined) return undefined
      items.push(item)
    }
    return items
  }
}

export function object<F extends Fields>(fields: F): Shape<ObjectOf<F>> {
  return (value) => {
    if (!isRecord(value)) return undefined
    const parsed: Record<string, unknown> = {}
    for (const [key, field] of Object.entries(fields)) {
      const isRequired = typeof field === 'function'
      const part = isRequired ? field(value[key]) : field.optional(value[key])
      if (part !== undefined) parsed[key] = part
      else if (isRequired) return undefined
    }
    // Each field was parsed by its own shape.
    return parsed as ObjectOf<F>
  }
}

/** An object with any keys. */
export function record<T>(shape: Shape<T>): Shape<Record<string, T>> {
  return (value) => {
    if (!isRecord(value)) return undefined
    const entries: [string, T][] = []
    for (const [key, entry] of Object.entries(value)) {
      const part = shape(entry)
      if (part === undefined) return undefined
      entries.push([key, part])
    }
    return Object.fromEntries(entries)
  }
}

/** The first of the shapes that the value has. */
export function union<S extends Shape<unknown>[]>(...shapes: S): Shape<Shaped<S[number]>> {
  return (value) => {
    for (const shape of shapes) {
      const parsed = shape(value)
      // The shapes are those of S.
      if (parsed !== undefined) return parsed as Shaped<S[number]>
    }
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
