// The names that a misspelt one may have meant.

const MAX_NAMES = 3
/** Longer names are compared by their beginning. */
const MAX_LENGTH = 200

/** At most three, the nearest first: a third of the characters may differ, and their case. */
export function findNearNames(wanted: string, names: readonly string[]): string[] {
  const from = comparable(wanted)
  const limit = Math.max(1, Math.floor(from.length / 3))
  return names
    .map((name) => ({ name, distance: distanceBetween(from, comparable(name)) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
}

function comparable(name: string): string {
  return name.normalize('NFC').toLowerCase().slice(0, MAX_LENGTH)
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function distanceBetween(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let at = 1; at <= to.length; at += 1) {
      const isSame = from[row - 1] === to[at - 1]
      const isSwapped = from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1]
      current[at] = Math.min(
        cell(last, at) + 1,
        cell(current, at - 1) + 1,
        cell(last, at - 1) + (isSame ? 0 : 1),
        ...(isSwapped ? [cell(beforeLast, at - 2) + 1] : []),
      )
    }
    beforeLast = last
    last = current
  }
  return cell(last, to.length)
}

function cell(row: readonly number[], at: number): number {
  return row[at] ?? Infinity
}
