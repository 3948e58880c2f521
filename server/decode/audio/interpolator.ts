// Band-limited interpolation of sampled audio with a windowed sinc.

/** Taps on each side at full bandwidth; a lower cutoff needs more. */
const HALF_TAPS = 16
/** Kernel rows between two samples; values between two rows are interpolated. */
const PHASES = 512
/** Resolution of a position between two samples, finer than 16-bit samples can represent. */
const FRACTION_STEPS = 2 ** 20
/** Positions with cached weights. Under drift there are more, but none repeats. */
const MAX_CACHED_FRACTIONS = 1024
/** Kaiser window: about 90 dB of stop-band attenuation. */
const KAISER_BETA = 9

export interface Interpolator {
  /**
   * Fills `target` with source values at `first`, `first + step`, …; the source is silent outside
   * its range.
   */
  resample(
    source: readonly Float32Array[],
    target: readonly Float32Array[],
    positions: { first: number; step: number },
  ): void
}

/**
 * @param cutoff highest frequency to retain, relative to the source's bandwidth: below 1 if the
 *   target's is lower
 */
export function createInterpolator(cutoff: number): Interpolator {
  const half = Math.ceil(HALF_TAPS / cutoff)
  const taps = half * 2
  const kernel = makeKernel(cutoff, half)
  const cache = new Map<number, Float32Array>()
  const scratch = new Float32Array(taps)

  /** Tap weights for a position between two samples. Two fixed rates need few positions. */
  function weightsAt(fraction: number): Float32Array {
    const position = Math.round(fraction * FRACTION_STEPS)
    const found = cache.get(position)
    if (found !== undefined) return found
    const isCacheable = cache.size < MAX_CACHED_FRACTIONS
    const weights = isCacheable ? new Float32Array(taps) : scratch
    interpolateRow(kernel, (position / FRACTION_STEPS) * PHASES, weights)
    if (isCacheable) cache.set(position, weights)
    return weights
  }

  function valueAt(plane: Float32Array, before: number, weights: Float32Array): number {
    let sum = 0
    const start = before - half + 1
    const from = Math.max(0, -start)
    const to = Math.min(taps, plane.length - start)
    for (let tap = from; tap < to; tap += 1) sum += (plane[start + tap] ?? 0) * (weights[tap] ?? 0)
    return sum
  }

  return {
    resample(source, target, { first, step }) {
      const count = target[0]?.length ?? 0
      for (let number = 0; number < count; number += 1) {
        const position = first + number * step
        const before = Math.floor(position)
        const weights = weightsAt(position - before)
        target.forEach((plane, channel) => {
          const samples = source[channel]
          if (samples !== undefined) plane[number] = valueAt(samples, before, weights)
        })
      }
    },
  }
}

/** Interpolates between two rows of the kernel. */
function interpolateRow(kernel: Float32Array, phase: number, weights: Float32Array): void {
  const taps = weights.length
  const row = Math.min(Math.floor(phase), PHASES - 1)
  const share = phase - row
  for (let tap = 0; tap < taps; tap += 1) {
    const low = kernel[row * taps + tap] ?? 0
    const high = kernel[(row + 1) * taps + tap] ?? 0
    weights[tap] = low + (high - low) * share
  }
}

/** Row p has the weights of all taps for the position p / PHASES between two samples. */
function makeKernel(cutoff: number, half: number): Float32Array {
  const taps = half * 2
  const kernel = new Float32Array((PHASES + 1) * taps)
  for (let row = 0; row <= PHASES; row += 1) {
    for (let tap = 0; tap < taps; tap += 1) {
      const distance = row / PHASES - (tap - half + 1)
      kernel[row * taps + tap] = cutoff * sinc(cutoff * distance) * kaiser(distance / half)
    }
  }
  return kernel
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : besselI0(KAISER_BETA * Math.sqrt(1 - x * x)) / besselI0(KAISER_BETA)
}

/** Modified Bessel function of order 0, by its power series. */
function besselI0(x: number): number {
  let sum = 1
  let term = 1
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}
