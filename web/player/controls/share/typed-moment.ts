// A moment that a visitor types.
import { parseMoment } from '../../visit/linked-range.ts'

/** The seconds of `1:02:03`, `2:03`, or a form of links (`1h2m3s`); undefined if malformed. */
export function parseTypedMoment(text: string): number | undefined {
  const parts = text.trim().split(':')
  const isClock = parts.length <= 3 && parts.every((part) => /^\d{1,6}$/.test(part))
  if (!isClock) return parseMoment(text.trim())
  return parts.reduce((seconds, part) => seconds * 60 + Number(part), 0)
}
