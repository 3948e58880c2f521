// The payload and times of WebVTT cues (W3C WebVTT 4.2.2), made from subtitles of other formats.

/** Text without markup. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** After the name, another character: with two ways to read a letter, the cost is quadratic. */
const TAG = /<(\/?)([a-z]+)((?:[^a-z<>][^<>]*)?)>/gi
/** Alignment as some write it into SRT: `{\an8}`. */
const OVERRIDE = /\{\\[^{}]*\}/g

/** SRT: bold, italic and underlined text stays so, other markup is removed. */
export function escapeSrt(text: string): string {
  let escaped = ''
  let end = 0
  for (const tag of text.matchAll(TAG)) {
    const [whole, slash, name = '', attributes = ''] = tag
    escaped += escapeText(text.slice(end, tag.index))
    if (/^[biu]$/i.test(name) && /^(\s|$)/.test(attributes))
      escaped += `<${slash}${name.toLowerCase()}>`
    end = tag.index + whole.length
  }
  return (escaped + escapeText(text.slice(end))).replaceAll(OVERRIDE, '')
}

/** `HH:MM:SS.mmm` (W3C WebVTT 4.4). */
export function formatCueTime(milliseconds: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const clock = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1000) % 60]
  return `${clock.map(two).join(':')}.${String(milliseconds % 1000).padStart(3, '0')}`
}

/** A payload has no empty line, no arrow, and no line end but one. */
export function cleanPayload(text: string): string {
  return text
    .replaceAll('\0', '')
    .replaceAll('-->', '--&gt;')
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '')
    .join('\n')
}
