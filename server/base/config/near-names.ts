// The names that a misspelt one may have meant. Pure.
import { distance } from 'fastest-levenshtein'

const MAX_NAMES = 3
const MAX_DISTANCE = 3
/** Longer names are compared by their beginning. */
const MAX_LENGTH = 200

/** At most three, the nearest first: a third of the characters may differ, and their case. */
export function findNearNames(wanted: string, names: readonly string[]): string[] {
  const from = comparable(wanted)
  const limit = Math.min(MAX_DISTANCE, Math.ceil(from.length / 3))
  return names
    .map((name) => ({ name, edits: distance(from, comparable(name)) }))
    .filter(({ edits }) => edits <= limit)
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
}

function comparable(name: string): string {
  return name.normalize('NFC').toLowerCase().slice(0, MAX_LENGTH)
}
