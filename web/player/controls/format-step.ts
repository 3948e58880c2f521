// Formats a step in the time of a session.
import { translate } from '../../language/translate.ts'

/** `−10 s`, `+5 s`. */
export function formatStep(seconds: number): string {
  return translate('{seconds} s', { seconds: `${seconds < 0 ? '−' : '+'}${Math.abs(seconds)}` })
}
