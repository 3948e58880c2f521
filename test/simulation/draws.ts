// Random decisions of a simulation, all from one seed.
import { createRandom } from '../../server/demo/random.ts'

export type Draws = ReturnType<typeof createDraws>

export function createDraws(seed: number) {
  const unit = createRandom(seed)
  // The first numbers of neighbouring seeds are alike.
  for (let count = 0; count < 8; count += 1) unit()
  const whole = (below: number): number => Math.floor(unit() * below)
  return {
    /** From 0 to below 1. */
    unit,
    /** A whole number from 0 to below the limit. */
    whole,
    between: (from: number, to: number): number => from + unit() * (to - from),
    chance: (probability: number): boolean => unit() < probability,
    /** @param values at least one */
    pick<T>(values: readonly T[]): T {
      const value = values[whole(values.length)]
      if (value === undefined) throw new Error('there is nothing to pick from')
      return value
    },
    fill(bytes: Uint8Array): void {
      for (let at = 0; at < bytes.length; at += 1) bytes[at] = whole(256)
    },
  }
}
