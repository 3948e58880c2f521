// The letters that stand for a streamer without a picture.

/** The first two characters (code points, never half of one) in upper case. */
export function initials(name: string): string {
  // Two code points are at most four code units: a hostile name is not walked to its end.
  return Array.from(name.slice(0, 4)).slice(0, 2).join('').toUpperCase()
}
