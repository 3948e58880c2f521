// The length of a session as the API shows it.

/** `H:MM:SS` of a number of seconds, rounded to whole ones: 245.2 -> `0:04:05`. */
export function formatDuration(durationSeconds: number): string {
  const total = Math.round(durationSeconds)
  const minutes = String(Math.floor(total / 60) % 60).padStart(2, '0')
  const seconds = String(total % 60).padStart(2, '0')
  return `${Math.floor(total / 3600)}:${minutes}:${seconds}`
}
