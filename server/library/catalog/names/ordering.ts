// Sort orders of the lists: streamers by name, sessions newest first. Stable, total and
// locale-independent.
import type { StreamerItem } from '../../../../shared/contract.ts'
import { isDigit } from './date-name.ts'

/** Streamers by name: case-insensitive, then by code unit. */
export function sortStreamers(streamers: readonly StreamerItem[]): StreamerItem[] {
  return streamers
    .map((streamer) => ({ streamer, folded: streamer.name.toLowerCase() }))
    .toSorted(
      (a, b) => compareText(a.folded, b.folded) || compareText(a.streamer.name, b.streamer.name),
    )
    .map(({ streamer }) => streamer)
}

/** The order of `sortStreamers`. */
export function compareStreamers(a: { name: string }, b: { name: string }): number {
  return compareText(a.name.toLowerCase(), b.name.toLowerCase()) || compareText(a.name, b.name)
}

/** Index of the first item not less than `key` in a sorted array (lower bound). */
export function findSorted<Item extends Key, Key>(
  list: readonly Item[],
  key: Key,
  compare: (a: Key, b: Key) => number,
): { at: number; found: Item | undefined } {
  let [start, end] = [0, list.length]
  while (start < end) {
    const middle = Math.floor((start + end) / 2)
    const item = list[middle]
    if (item !== undefined && compare(item, key) < 0) start = middle + 1
    else end = middle
  }
  const item = list[start]
  return { at: start, found: item !== undefined && compare(item, key) === 0 ? item : undefined }
}

/** Newest first: by date as text, then by id in natural order, descending. */
export function compareSessions(
  a: { date: string; sessionId: string },
  b: { date: string; sessionId: string },
): number {
  return compareText(b.date, a.date) || compareNatural(b.sessionId, a.sessionId)
}

/**
 * Natural order: runs of digits (of any length) compare as numbers, everything else by code unit.
 * Ids that differ only in leading zeros fall back to code units, so that only equal strings compare
 * as 0.
 */
export function compareNatural(a: string, b: string): number {
  let inA = 0
  let inB = 0
  while (inA < a.length && inB < b.length) {
    if (isDigit(a, inA) && isDigit(b, inB)) {
      const [endA, endB] = [endOfDigits(a, inA), endOfDigits(b, inB)]
      const order = compareDigits(a.slice(inA, endA), b.slice(inB, endB))
      if (order !== 0) return order
      inA = endA
      inB = endB
    } else {
      const order = a.charCodeAt(inA) - b.charCodeAt(inB)
      if (order !== 0) return order
      inA += 1
      inB += 1
    }
  }
  return a.length - inA - (b.length - inB) || compareText(a, b)
}

/** By code unit, like `<`. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function compareDigits(a: string, b: string): number {
  const [numberA, numberB] = [withoutZeros(a), withoutZeros(b)]
  return numberA.length - numberB.length || compareText(numberA, numberB)
}

function withoutZeros(digits: string): string {
  let start = 0
  while (digits.charCodeAt(start) === 48) start += 1
  return digits.slice(start)
}

function endOfDigits(text: string, start: number): number {
  let end = start
  while (isDigit(text, end)) end += 1
  return end
}
