// The letters shown for a streamer without a thumbnail.

/** The first two code points in upper case. */
export function initials(name: string): string {
  // Two code points have at most four code units: a long name is not traversed.
  return Array.from(name.slice(0, 4)).slice(0, 2).join('').toUpperCase()
}
