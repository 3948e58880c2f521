// Formats a position of a session.

/** `H:MM:SS`, rounded down: `0:04:05`. */
export function formatMoment(seconds: number): string {
  const whole = Math.max(Math.floor(seconds), 0)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.floor(whole / 60) % 60
  return `${Math.floor(whole / 3600)}:${twoDigits(minutes)}:${twoDigits(whole % 60)}`
}
