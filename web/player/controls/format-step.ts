// Formats a step in the time of a session.
import { translate } from '../../language/translate.ts'

/** Without it, the sign would be after the number. */
const LEFT_TO_RIGHT_MARK = '\u200E'

/** `−10 s`, `+5 s`. */
export function formatStep(seconds: number): string {
  const mark = document.dir === 'rtl' ? LEFT_TO_RIGHT_MARK : ''
  const sign = seconds < 0 ? '−' : '+'
  return translate('{seconds} s', { seconds: `${mark}${sign}${Math.abs(seconds)}` })
}
