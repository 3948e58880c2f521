// Suggestions for misspelt names of keys and variables, as commander makes them for flags. Pure.

const MAX_DISTANCE = 3
/** Longer names get no suggestion, so that their cost stays small. */
const MAX_LENGTH = 100

/** ` (did you mean …?)` with the most similar name; '' if none is similar. */
export function suggestName(name: string, candidates: readonly string[]): string {
  if (name.length > MAX_LENGTH) return ''
  const limit = Math.min(MAX_DISTANCE, Math.floor(name.length / 3))
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: countEdits(name, candidate) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
  return best === undefined ? '' : ` (did you mean ${best.candidate}?)`
}

/** Insertions, deletions, substitutions and swaps of neighbours. */
function countEdits(from: string, to: string): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwap ? (before[j - 2] ?? Infinity) + 1 : Infinity,
        ),
      )
    }
    before = row
    row = next
  }
  return row[to.length] ?? 0
}
