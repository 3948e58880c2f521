// Pauses before something that failed is repeated.

export interface Backoff {
  firstMs: number
  maxMs: number
  /** Shortens each pause by up to half, so that what failed together is not repeated together. */
  random?: () => number
}

/** Doubles with each failure before this one. */
export function backoffMs(failures: number, { firstMs, maxMs, random = () => 0 }: Backoff): number {
  return Math.min(firstMs * 2 ** failures, maxMs) * (1 - random() / 2)
}
