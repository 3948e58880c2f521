// Parses JSON and requires that the shape covers all of it.
import { deepStrictEqual } from 'node:assert/strict'
import { parseShape } from '../../shared/shape.ts'
import type { Shape } from '../../shared/shape.ts'

/** The parsed value. Throws if the shape is another one, or has fewer fields than the value. */
export function parseExactly<T>(shape: Shape<T>, value: unknown): T {
  const parsed = parseShape(shape, value)
  deepStrictEqual(parsed, value)
  return parsed
}
