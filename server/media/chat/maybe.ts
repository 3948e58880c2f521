// Shapes of fields of chat files, which may be absent, null or of another type.
import { z } from 'zod'

/** Undefined unless it has the shape. */
export function maybe<Shape extends z.ZodType>(shape: Shape) {
  return shape.optional().catch(undefined)
}

export const maybeString = maybe(z.string())

/** Some writers put numbers into strings, and TwitchDownloader reads both. */
export const maybeNumber = maybe(
  z.union([
    z.number(),
    z
      .string()
      .regex(/^-?\d+(?:\.\d+)?$/)
      .transform(Number),
  ]),
)
