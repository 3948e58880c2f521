// Ranges of bytes, as pairs of first byte and end in one flat list, in order.

/** The rest of [from, to) without the ranges of `holes` (in order, not overlapping). */
export function subtractRanges(from: number, to: number, holes: ArrayLike<number>): number[] {
  const left: number[] = []
  let at = from
  for (let i = firstAfter(holes, from); i + 1 < holes.length; i += 2) {
    const start = holes[i] ?? to
    if (start >= to) break
    if (start > at) left.push(at, start)
    at = Math.max(at, holes[i + 1] ?? at)
  }
  if (at < to) left.push(at, to)
  return left
}

/** Index of the first range that ends after `position`. */
function firstAfter(ranges: ArrayLike<number>, position: number): number {
  let low = 0
  let high = Math.floor(ranges.length / 2)
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ranges[2 * middle + 1] ?? 0) > position) high = middle
    else low = middle + 1
  }
  return 2 * low
}

/** Appends a range, joined to the last one if they touch. */
export function appendRange(ranges: number[], from: number, to: number): void {
  if (ranges.at(-1) === from) ranges[ranges.length - 1] = to
  else ranges.push(from, to)
}

/** Returns a test for holes; positions come in order, from `from`. */
export function holeTest(holes: ArrayLike<number>, from: number): (position: number) => boolean {
  let next = 0
  while (next + 1 < holes.length && (holes[next + 1] ?? 0) <= from) next += 2
  return (position) => {
    while (next + 1 < holes.length && (holes[next + 1] ?? 0) <= position) next += 2
    return next + 1 < holes.length && (holes[next] ?? 0) <= position
  }
}
