// The day of a session's date, which is a string in the format of its recorder.

/** `2026-01-31`, `2026_01_31`, `2026.01.31` or `20260131`, also followed by a time. */
const DAY = /^(?<year>\d{4})(?<separator>[-_.]?)(?<month>\d{2})\k<separator>(?<day>\d{2})(?!\d)/

/** In ISO 8601, `2026-01-31`; undefined if the date does not begin with a day that exists. */
export function sessionDay(date: string): string | undefined {
  const { year = '', month = '', day = '' } = DAY.exec(date)?.groups ?? {}
  const isoDate = `${year}-${month}-${day}`
  // JavaScript reads 31 February as a day in March, and 41 January as no time: null.
  return JSON.stringify(new Date(isoDate)).includes(isoDate) ? isoDate : undefined
}
