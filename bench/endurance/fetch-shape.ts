// Fetches JSON and parses it.
import { parseShape } from '../../shared/shape.ts'
import type { Shape } from '../../shared/shape.ts'

/** Rejects if the response is an error or has another shape. */
export async function fetchShape<T>(url: string, shape: Shape<T>): Promise<T> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${response.status} for ${url}`)
  return parseShape(shape, await response.json())
}
