// Compares the operator's token, and limits how often a client may be wrong.
import { createHash, timingSafeEqual } from 'node:crypto'
import { RateLimiter } from '../../base/admission/rate-limiter.ts'

/** Wrong tokens per address. */
const WRONG_TOKENS = { requests: 5, windowMs: 60_000 }

export type TokenResult = { status: 'right' | 'wrong' } | { status: 'later'; seconds: number }

/**
 * The check of a configured token. After five wrong tokens within a minute, no token of this
 * address is compared until the minute is over.
 *
 * @param now milliseconds of a monotonic clock
 */
export function createTokenCheck(
  expected: string,
  now: () => number,
): (given: string, address: string) => TokenResult {
  const limiter = new RateLimiter({ ...WRONG_TOKENS, now })
  const expectedDigest = digestOf(expected)
  return (given, address) => {
    const seconds = limiter.secondsToWait(address)
    if (seconds > 0) return { status: 'later', seconds }
    // Digests have one length, which timingSafeEqual requires.
    if (timingSafeEqual(digestOf(given), expectedDigest)) return { status: 'right' }
    limiter.take(address)
    return { status: 'wrong' }
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
