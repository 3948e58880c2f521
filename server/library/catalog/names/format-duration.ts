// Formats a session's duration as the API returns it.

/** `H:MM:SS`, rounded to whole seconds: 245.2 -> `0:04:05`. */
export function formatDuration(durationSeconds: number): string {
  const total = Math.round(durationSeconds)
  const minutes = String(Math.floor(total / 60) % 60).padStart(2, '0')
  const seconds = String(total % 60).padStart(2, '0')
  return `${Math.floor(total / 3600)}:${minutes}:${seconds}`
}
