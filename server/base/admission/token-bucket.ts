// An allowance that comes back at a constant rate. Pure, but for its clock.

export interface TokenRate {
  perSecond: number
  /** Most that is left. */
  burst: number
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

/** Full at first. The last charge may exceed what is left; then the excess comes back first. */
export class TokenBucket {
  readonly #rate: TokenRate
  #left: number
  #atMs: number

  constructor(rate: TokenRate) {
    this.#rate = rate
    this.#left = rate.burst
    this.#atMs = rate.now()
  }

  get isEmpty(): boolean {
    this.#refill()
    return this.#left <= 0
  }

  charge(amount: number): void {
    this.#refill()
    this.#left -= amount
  }

  /** Milliseconds until something is left after a further charge; 0 if something is. */
  msUntilLeft(charge = 0): number {
    this.#refill()
    return (Math.max(0, charge - this.#left) * 1000) / this.#rate.perSecond
  }

  #refill(): void {
    const { burst, perSecond, now } = this.#rate
    const nowMs = now()
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#atMs) * perSecond) / 1000)
    this.#atMs = nowMs
  }
}
