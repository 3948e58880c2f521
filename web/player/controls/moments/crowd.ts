// Where the crowd of a session was loud, by the messages of its chat per minute. Pure.

/** Of the loudest. */
const MAX_PEAKS = 10

/** Messages per bucket of a chat, from the start of the session on. */
export interface Crowd {
  counts: readonly number[]
  bucketSeconds: number
  /** Messages come later by these seconds. */
  offsetSeconds: number
}

export interface Peak {
  startSeconds: number
  /** Messages. */
  count: number
}

/**
 * The loudest buckets, in order of their times: none next to a louder one, and none with fewer
 * messages than the average, and none that the offset moves before the start.
 */
export function findPeaks({ counts, bucketSeconds, offsetSeconds }: Crowd): Peak[] {
  const average = counts.reduce((sum, count) => sum + count, 0) / counts.length
  const loudest: number[] = []
  const byCount = [...counts.keys()].toSorted((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0))
  for (const bucket of byCount) {
    if (loudest.length === MAX_PEAKS || (counts[bucket] ?? 0) <= average) break
    const isNext = (other: number): boolean => Math.abs(other - bucket) === 1
    const isBesideLouder = [bucket - 1, bucket + 1].some(
      (other) => (counts[other] ?? 0) > (counts[bucket] ?? 0),
    )
    if (!isBesideLouder && !loudest.some(isNext)) loudest.push(bucket)
  }
  return loudest
    .toSorted((a, b) => a - b)
    .filter((bucket) => (bucket + 1) * bucketSeconds + offsetSeconds > 0)
    .map((bucket) => ({
      startSeconds: Math.max(bucket * bucketSeconds + offsetSeconds, 0),
      count: counts[bucket] ?? 0,
    }))
}

/**
 * The path of an area that is as high as each bucket is loud, in seconds from the start of the
 * session, and 0 (at the top: as loud as the loudest) to 1.
 */
export function crowdPath({ counts, bucketSeconds, offsetSeconds }: Crowd): string {
  const loudest = counts.reduce((most, count) => Math.max(most, count), 1)
  const points = counts.map((count, bucket) => {
    const seconds = (bucket + 0.5) * bucketSeconds + offsetSeconds
    return `${seconds} ${(1 - count / loudest).toFixed(3)}`
  })
  const end = counts.length * bucketSeconds + offsetSeconds
  return `M${offsetSeconds} 1L${points.join('L')}L${end} 1Z`
}
