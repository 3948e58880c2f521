// Finds text for which the cost of a function grows faster than the text.
import fc from 'fast-check'
import type { CostCounter } from './count-cost.ts'

export type Parse = (text: string) => unknown

/** Text of any length: `start`, many `first`, many `second`, `end`. */
export interface TextFamily {
  start: string
  first: string
  second: string
  end: string
}

/** Characters of the shortest text. */
const LENGTH = 120
/** A linear cost doubles from one difference to the next; n log n stays below this factor. */
const MAX_GROWTH = 2.3
/** Share of the length that each of the runs of one text has. */
const RUN_SHARE = 0.1
/** Random families per function. */
const RUNS = 6

/**
 * Whether the cost of a function, errors included, grows linearly. It may jump once, where a limit
 * or another branch begins.
 */
export function isLinear(counter: CostCounter, parse: Parse, family: TextFamily): boolean {
  return growsLinearly(counter, parse, (length) => textOf(family, length))
}

function growsLinearly(
  counter: CostCounter,
  parse: Parse,
  textOfLength: (length: number) => string,
): boolean {
  const cost = (length: number): number => {
    const text = textOfLength(length)
    return counter.measure(() => {
      try {
        return parse(text)
      } catch {
        return undefined // Invalid text costs, too.
      }
    })
  }
  const isLinearFrom = (length: number): boolean => {
    const [one, two, four] = [cost(length), cost(2 * length), cost(4 * length)]
    return four - two <= MAX_GROWTH * Math.max(0, two - one) + 8 * length
  }
  // What is created on first use does not count.
  cost(LENGTH)
  return isLinearFrom(LENGTH) || isLinearFrom(2 * LENGTH)
}

/**
 * Text whose cost is not linear: after each of the tokens a run of one of them, and a random family
 * of their combinations.
 */
export function findSlowText(
  counter: CostCounter,
  parse: Parse,
  tokens: readonly string[],
): TextFamily | string | undefined {
  const repeated = tokens.find((token) => !growsLinearly(counter, parse, runsOf(token, tokens)))
  if (repeated !== undefined) return repeated
  const some = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
    fc.array(fc.constantFrom(...tokens), { minLength, maxLength }).map((parts) => parts.join(''))
  const family = fc.record({
    start: some(0, 3),
    first: some(1, 3),
    second: some(0, 2),
    end: some(0, 2),
  })
  const property = fc.property(family, (made) => isLinear(counter, parse, made))
  // A smaller text shows no more, and each one takes seconds if the cost is not linear.
  const { errorInstance, counterexample } = fc.check(property, {
    numRuns: RUNS,
    endOnFailure: true,
  })
  if (errorInstance instanceof Error) throw errorInstance
  return counterexample?.[0]
}

/** After each token a run of the repeated one; then the same, each ended by all tokens. */
function runsOf(repeated: string, tokens: readonly string[]): (length: number) => string {
  const end = tokens.toReversed().join('')
  return (length) => {
    const run = repeated.repeat(Math.ceil((length * RUN_SHARE) / repeated.length))
    const open = ['', ...tokens].map((start) => start + run)
    return [...open, ...open.map((start) => start + end)].join('')
  }
}

function textOf({ start, first, second, end }: TextFamily, length: number): string {
  const half = second === '' ? length : length / 2
  const fill = (part: string): string =>
    part.repeat(part === '' ? 0 : Math.ceil(half / part.length))
  return start + fill(first) + fill(second) + end
}
