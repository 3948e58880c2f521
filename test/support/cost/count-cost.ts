// Counts what a function costs, without a clock: executed blocks of code, characters and entries
// that built-in functions visit, and steps of regular expressions.
import { Session } from 'node:inspector'
import type { Profiler } from 'node:inspector'
import { URL } from 'node:url'
import { stepCounterOf } from './regexp-steps.ts'

type Call = (this: unknown, ...values: unknown[]) => unknown
/** The cost of a call, from its receiver, its arguments and its result. */
type Cost = (self: unknown, values: unknown[], result: unknown) => number

const size = (value: unknown): number => {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  if (ArrayBuffer.isView(value)) return value.byteLength
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}
const whole: Cost = (self) => size(self)
const argument: Cost = (_self, [value]) => size(value)
const output: Cost = (_self, _values, result) => size(result)
const both: Cost = (self, values, result) => size(self) + output(self, values, result)
/** As far as it searched. */
const searched: Cost = (self, [, from], result) => {
  const start = typeof from === 'number' ? Math.max(0, from) : 0
  const isFound = typeof result === 'number' && result >= start
  return Math.max(0, (isFound ? result : size(self)) - start)
}

/** Built-in functions whose cost depends on the length of something. */
const costs: readonly [object, Record<string, Cost>][] = [
  [
    String.prototype,
    {
      ...costOf(whole, 'includes lastIndexOf split trim trimStart trimEnd toLowerCase toUpperCase'),
      ...costOf(whole, 'normalize toWellFormed isWellFormed localeCompare'),
      ...costOf(both, 'replace replaceAll'),
      ...costOf(output, 'slice substring substr concat repeat padStart padEnd'),
      ...costOf(searched, 'indexOf'),
      ...costOf(argument, 'startsWith endsWith'),
    },
  ],
  [
    Array.prototype,
    {
      ...costOf(
        whole,
        'shift unshift splice includes lastIndexOf reverse toReversed sort toSorted',
      ),
      ...costOf(whole, 'fill toSpliced with filter map find findIndex some every forEach reduce'),
      ...costOf(both, 'join flat flatMap'),
      ...costOf(output, 'slice concat'),
      ...costOf(searched, 'indexOf'),
    },
  ],
  [Array, costOf(output, 'from')],
  [Object.getPrototypeOf([][Symbol.iterator]()) as object, costOf(() => 1, 'next')],
  [
    Object.getPrototypeOf(Uint8Array.prototype) as object,
    { ...costOf(whole, 'includes lastIndexOf join fill'), ...costOf(output, 'slice') },
  ],
  [Buffer.prototype, { ...costOf(output, 'toString'), ...costOf(searched, 'indexOf') }],
  [Buffer, costOf(output, 'from concat alloc')],
  [TextDecoder.prototype, costOf(argument, 'decode')],
  [JSON, { ...costOf(argument, 'parse'), ...costOf(output, 'stringify') }],
  [Object, { ...costOf(output, 'keys values entries fromEntries assign') }],
  [URL, costOf(argument, 'parse canParse')],
  [globalThis, costOf(argument, 'decodeURIComponent encodeURIComponent')],
]

function costOf(cost: Cost, names: string): Record<string, Cost> {
  return Object.fromEntries(names.split(' ').map((name) => [name, cost]))
}

/** Code that is not measured. */
const UNMEASURED = new RegExp(
  '^(?:node:|$)|/test/support/cost/|/node_modules/(?:@eslint-community|vitest|vite|fast-check)/',
)

/** Measures functions; close it after the last one. */
export class CostCounter {
  readonly #session = new Session()
  #counted = 0
  #isCounting = false

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  close(): void {
    this.#session.disconnect()
  }

  /** The cost of a call: the same each time. */
  measure(work: () => unknown): number {
    this.#counted = 0
    const restore = this.#replaceFunctions()
    this.#isCounting = true
    try {
      work()
    } finally {
      this.#isCounting = false
      for (const undo of restore) undo()
    }
    return this.#counted + this.#takeBlocks()
  }

  /** Executed blocks since the last call; nothing measured runs between two measurements. */
  #takeBlocks(): number {
    let blocks = 0
    this.#session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error !== null) throw error
      blocks = taken.result.reduce((sum, script) => sum + blocksOf(script), 0)
    })
    return blocks
  }

  #replaceFunctions(): (() => void)[] {
    const expressions = replace(RegExp.prototype, 'exec', (native) => this.#countSearch(native))
    const others = costs.flatMap(([owner, functions]) =>
      Object.entries(functions).map(([name, cost]) =>
        replace(owner, name, (native) => this.#countCall(native, cost)),
      ),
    )
    return [expressions, ...others]
  }

  #countCall(native: Call, cost: Cost): Call {
    const add = this.#add.bind(this)
    return function counted(this: unknown, ...values) {
      const result = Reflect.apply(native, this, values)
      add(() => cost(this, values, result))
      return result
    }
  }

  #countSearch(native: Call): Call {
    const add = this.#add.bind(this)
    return function exec(this: unknown, ...values) {
      if (!(this instanceof RegExp)) return Reflect.apply(native, this, values)
      const text = String(values[0])
      const from = this.global || this.sticky ? this.lastIndex : 0
      const result = Reflect.apply(native, this, [text])
      add(() => {
        if (from > text.length) return 1
        const { steps, index } = stepCounterOf(this)(text, from)
        const expected = Array.isArray(result) && 'index' in result ? result.index : -1
        if (index !== expected) throw new Error(`${String(this)} is counted wrongly`)
        return steps
      })
      return result
    }
  }

  /** Adds a cost. What its computation itself calls is not counted. */
  #add(cost: () => number): void {
    if (!this.#isCounting) return
    this.#isCounting = false
    try {
      this.#counted += 1 + cost()
    } finally {
      this.#isCounting = true
    }
  }
}

function replace(owner: object, name: string, wrap: (native: Call) => Call): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(owner, name)
  const native: unknown = descriptor?.value
  if (typeof native !== 'function') throw new Error(`no function ${name}`)
  const call: Call = function call(...values) {
    return Reflect.apply(native, this, values) as unknown
  }
  Object.defineProperty(owner, name, { ...descriptor, value: wrap(call) })
  return () => Object.defineProperty(owner, name, descriptor ?? {})
}

function blocksOf({ url, functions }: Profiler.ScriptCoverage): number {
  if (UNMEASURED.test(url)) return 0
  return functions.reduce(
    (sum, { ranges }) => sum + ranges.reduce((counts, { count }) => counts + count, 0),
    0,
  )
}
