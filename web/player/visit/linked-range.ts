// The moment that a link to a session names: `?t=1h2m3s`, optionally with `&end=`.

/** Parts are undefined where the link names none. */
export interface LinkedRange {
  startSeconds: number | undefined
  /** After the start; playback pauses there once. */
  endSeconds: number | undefined
}

/** Parses the query of the player page's URL. Invalid values count as absent. */
export function parseLinkedRange(search: string): LinkedRange {
  const parameters = new URLSearchParams(search)
  const startSeconds = parseMoment(parameters.get('t') ?? '')
  const endSeconds = parseMoment(parameters.get('end') ?? '')
  const isAfterStart = endSeconds !== undefined && endSeconds > (startSeconds ?? 0)
  return { startSeconds, endSeconds: isAfterStart ? endSeconds : undefined }
}

const NUMBER = String.raw`\d+(?:\.\d+)?`
/** Seconds alone, or units in descending order: `3723`, `1h2m3s`, `62m3s`, `90s`, `1.5h`. */
const pattern = new RegExp(
  `^(?:(?<plain>${NUMBER})|(?=.)(?:(?<hours>${NUMBER})h)?` +
    `(?:(?<minutes>${NUMBER})m)?(?:(?<seconds>${NUMBER})s)?)$`,
)

/** The seconds of a moment in a link; undefined if it is malformed. */
export function parseMoment(text: string): number | undefined {
  const found = pattern.exec(text)?.groups
  if (!found) return undefined
  const { plain, hours, minutes, seconds } = found
  const total =
    Number(plain ?? 0) +
    Number(hours ?? 0) * 3600 +
    Number(minutes ?? 0) * 60 +
    Number(seconds ?? 0)
  return Number.isFinite(total) ? total : undefined
}
