// Band-limited interpolation: the value of sampled sound between its samples, by a windowed sinc.

/** Taps on each side at the full band; a narrower band takes more. */
const HALF_TAPS = 16
/** Places between two samples at which the kernel is kept; between them it is interpolated. */
const PHASES = 512
/** Places between two samples that are told apart: finer than 16 bits can tell. */
const PLACES = 2 ** 20
/** Places whose weights are kept; where there are more, as under drift, none comes back. */
const MAX_KNOWN = 1024
/** Kaiser window: about 90 dB of stop band. */
const KAISER_BETA = 9

export interface Interpolator {
  /** Fills `target` with the source's values at `first`, `first + step`, … ; outside of the source there is silence. */
  resample(
    source: readonly Float32Array[],
    target: readonly Float32Array[],
    places: { first: number; step: number },
  ): void
}

/**
 * An interpolator.
 *
 * @param cutoff the highest frequency that stays, as a share of the source's band: 1, or less where the target's is narrower
 */
export function createInterpolator(cutoff: number): Interpolator {
  const half = Math.ceil(HALF_TAPS / cutoff)
  const taps = half * 2
  const kernel = makeKernel(cutoff, half)
  const known = new Map<number, Float32Array>()
  const scratch = new Float32Array(taps)

  /** Weights of the taps for a place between two samples. Two rates that are fixed need few places. */
  function weightsAt(fraction: number): Float32Array {
    const place = Math.round(fraction * PLACES)
    const found = known.get(place)
    if (found !== undefined) return found
    const isKept = known.size < MAX_KNOWN
    const weights = isKept ? new Float32Array(taps) : scratch
    interpolateRow(kernel, (place / PLACES) * PHASES, weights)
    if (isKept) known.set(place, weights)
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
        const place = first + number * step
        const before = Math.floor(place)
        const weights = weightsAt(place - before)
        target.forEach((plane, channel) => {
          const samples = source[channel]
          if (samples !== undefined) plane[number] = valueAt(samples, before, weights)
        })
      }
    },
  }
}

/** Fills `weights` with what lies between two rows of the kernel. */
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

/** Row p holds the weights of all taps for a value p / PHASES of the way from one sample to the next. */
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
