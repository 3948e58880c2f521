// Counts the steps of a backtracking matcher (ECMA-262 22.2.2): what an engine may need for one
// search.
import { RegExpParser } from '@eslint-community/regexpp'
import type { AST } from '@eslint-community/regexpp'

type Next = (at: number) => boolean
type Matcher = (at: number, next: Next) => boolean
type Character = AST.Character | AST.CharacterSet | AST.CharacterClass

interface Search {
  steps: number
  text: string
  /** Start and end of each group, for backreferences. */
  groups: Map<AST.CapturingGroup, string>
}

/** Returns the steps of one search from a position, and where it matched. */
export type StepCounter = (text: string, from: number) => { steps: number; index: number }

/** A search that takes more is not linear for any text of the tests. */
const MAX_STEPS = 20_000_000

const compiled = new Map<string, StepCounter>()

/** The counter of an expression. */
export function stepCounterOf({ source, flags }: RegExp): StepCounter {
  const key = `${flags}/${source}`
  const known = compiled.get(key) ?? compile(source, flags)
  compiled.set(key, known)
  return known
}

function compile(source: string, flags: string): StepCounter {
  const unicode = flags.includes('u')
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode })
  const search: Search = { steps: 0, text: '', groups: new Map() }
  const matcher = new Compiler(search, flags).alternatives(pattern.alternatives, 1)
  const isAnchored = !flags.includes('m') && pattern.alternatives.every(startsAtStart)
  const isSticky = flags.includes('y')
  return (text, from) => {
    Object.assign(search, { steps: 0, text })
    const last = isSticky || (isAnchored && from === 0) ? from : text.length
    for (let at = from; at <= last; at += 1) {
      search.steps += 1
      if (matcher(at, () => true)) return { steps: search.steps, index: at }
      if (isAnchored) break
    }
    return { steps: search.steps, index: -1 }
  }
}

function startsAtStart({ elements: [first] }: AST.Alternative): boolean {
  return first?.type === 'Assertion' && first.kind === 'start'
}

class Compiler {
  readonly #search: Search
  readonly #flags: string

  constructor(search: Search, flags: string) {
    this.#search = search
    this.#flags = flags
  }

  /** @param direction -1 in lookbehinds */
  alternatives(alternatives: readonly AST.Alternative[], direction: 1 | -1): Matcher {
    const matchers = alternatives.map(({ elements }) => this.#sequence(elements, direction))
    return (at, next) => matchers.some((matcher) => matcher(at, next))
  }

  #sequence(elements: readonly AST.Element[], direction: 1 | -1): Matcher {
    const ordered = direction === 1 ? elements : elements.toReversed()
    return ordered
      .map((element) => this.#element(element, direction))
      .reduceRight<Matcher>(
        (after, matcher) => (at, next) => matcher(at, (to) => after(to, next)),
        (at, next) => next(at),
      )
  }

  #element(element: AST.Element, direction: 1 | -1): Matcher {
    switch (element.type) {
      case 'Group':
        return this.alternatives(element.alternatives, direction)
      case 'CapturingGroup':
        return this.#group(element, direction)
      case 'Quantifier':
        return this.#quantifier(element, direction)
      case 'Assertion':
        return this.#assertion(element)
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass': {
        const width = this.#character(element, direction)
        return (at, next) => {
          const to = at + width(at)
          return to !== at && next(to)
        }
      }
      case 'Backreference':
        return this.#backreference(element)
      case 'ExpressionCharacterClass':
        throw new Error('the flag v is not counted')
    }
  }

  #group(group: AST.CapturingGroup, direction: 1 | -1): Matcher {
    const { groups } = this.#search
    const inner = this.alternatives(group.alternatives, direction)
    return (at, next) =>
      inner(at, (to) => {
        const before = groups.get(group)
        groups.set(group, this.#search.text.slice(Math.min(at, to), Math.max(at, to)))
        if (next(to)) return true
        if (before === undefined) groups.delete(group)
        else groups.set(group, before)
        return false
      })
  }

  #quantifier({ element, min, max, greedy }: AST.Quantifier, direction: 1 | -1): Matcher {
    const isCharacter = element.type.startsWith('Character') && greedy
    if (isCharacter) return this.#run(this.#character(element as Character, direction), min, max)
    const matcher = this.#element(element, direction)
    const repeat = (at: number, count: number, next: Next): boolean => {
      this.#step()
      const more = (): boolean =>
        count < max &&
        matcher(at, (to) => (to !== at || count < min) && repeat(to, count + 1, next))
      const stop = (): boolean => count >= min && next(at)
      return greedy ? more() || stop() : stop() || more()
    }
    return (at, next) => repeat(at, 0, next)
  }

  /** Without recursion, because it may be as long as the text. */
  #run(width: (at: number) => number, min: number, max: number): Matcher {
    return (at, next) => {
      const ends = [at]
      for (let end = at; ends.length <= max; ends.push(end)) {
        const moved = width(end)
        if (moved === 0) break
        end += moved
      }
      for (let count = ends.length - 1; count >= min; count -= 1) {
        this.#step()
        if (next(ends[count] ?? at)) return true
      }
      return false
    }
  }

  /** How far a character moves; 0 if it does not match. */
  #character({ raw }: Character, direction: 1 | -1): (at: number) => number {
    const flags = this.#flags.replaceAll(/[gymd]/g, '')
    const single = new RegExp(`^(?:${raw})$`, flags)
    const known = new Map<string, boolean>()
    return (at) => {
      this.#step()
      const character = this.#at(at, direction)
      let isMatch = known.get(character)
      if (isMatch === undefined) known.set(character, (isMatch = single.test(character)))
      return isMatch ? direction * character.length : 0
    }
  }

  #at(at: number, direction: 1 | -1): string {
    const { text } = this.#search
    const unit = text[direction === 1 ? at : at - 1] ?? ''
    if (!this.#flags.includes('u')) return unit
    const pair = direction === 1 ? text.slice(at, at + 2) : text.slice(Math.max(0, at - 2), at)
    return (pair.codePointAt(0) ?? 0) > 0xffff ? pair : unit
  }

  #assertion(assertion: AST.Assertion): Matcher {
    switch (assertion.kind) {
      case 'start':
      case 'end':
      case 'word': {
        const edge = new RegExp(assertion.raw, `y${this.#flags.includes('m') ? 'm' : ''}`)
        return (at, next) => {
          this.#step()
          edge.lastIndex = at
          return edge.test(this.#search.text) && next(at)
        }
      }
      case 'lookahead':
      case 'lookbehind': {
        const direction = assertion.kind === 'lookahead' ? 1 : -1
        const inner = this.alternatives(assertion.alternatives, direction)
        return (at, next) => inner(at, () => true) !== assertion.negate && next(at)
      }
    }
  }

  #backreference({ resolved }: AST.Backreference): Matcher {
    const group = Array.isArray(resolved) ? resolved[0] : resolved
    return (at, next) => {
      const { text, groups } = this.#search
      const copy = (group && groups.get(group)) ?? ''
      this.#search.steps += copy.length + 1
      return text.startsWith(copy, at) && next(at + copy.length)
    }
  }

  #step(): void {
    this.#search.steps += 1
    if (this.#search.steps > MAX_STEPS) throw new Error(`more than ${MAX_STEPS} steps`)
  }
}
