// The time codes in a description. Pure.

/** A piece of a description: text, or a time code with the moment that it names. */
export interface DescriptionPart {
  text: string
  seconds?: number
}

const TIME_CODE = /(?<![\d:])(?:(\d{1,2}):)?(\d{1,2}):([0-5]\d)(?![\d:])/g

/** Splits a description at its time codes (`1:02`, `1:02:03`); others are later than the end. */
export function splitAtTimeCodes(description: string, durationSeconds: number): DescriptionPart[] {
  const parts: DescriptionPart[] = []
  let end = 0
  for (const found of description.matchAll(TIME_CODE)) {
    const [text, hours = 0, minutes, rest] = found
    const seconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(rest)
    if (seconds >= durationSeconds) continue
    parts.push({ text: description.slice(end, found.index) }, { text, seconds })
    end = found.index + text.length
  }
  return [...parts, { text: description.slice(end) }].filter(({ text }) => text !== '')
}
