// Every regular expression of the product takes linear time, whatever the text: an analyser proves
// it, or finds no attack.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { check } from 'recheck'
import { parseSync } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'

/**
 * Expressions that take longer, as `/pattern/flags`, each with the bound on its input. The list
 * has no other entries: one whose expression is gone or linear fails.
 */
const exceptions: Readonly<Record<string, string>> = {}

/** For an expression that the analyser cannot judge; all others take two seconds at most. */
const ANALYSIS_MS = 120_000

interface Found {
  expression: RegExp
  /** Files that contain it. */
  files: string[]
}

const root = path.join(import.meta.dirname, '../..')
const files = globSync('{server,shared,web}/**/*.{ts,tsx,js}', { cwd: root }).filter(
  (file) => !/\.test\.tsx?$/.test(file),
)
const found = new Map<string, Found>()
/** Constructor calls in each file, and those that were seen while it was loaded. */
const written = new Map<string, number>()
const constructed = new Map<string, number>()
const native = RegExp

beforeAll(async () => {
  for (const file of files) {
    const { literals, constructions } = findExpressions(readFileSync(path.join(root, file), 'utf8'))
    for (const expression of literals) add(expression, file)
    if (constructions > 0) written.set(file, constructions)
  }
  globalThis.RegExp = new Proxy(native, {
    construct: (target, [pattern, flags]: [string, string?]) => {
      const expression = new target(pattern, flags)
      const caller = callerOf(new Error().stack)
      const file = files.find((name) => caller.includes(`/${name}:`))
      if (file !== undefined) {
        add(expression, file)
        constructed.set(file, (constructed.get(file) ?? 0) + 1)
      }
      return expression
    },
  })
  for (const file of written.keys()) await import(pathToFileURL(path.join(root, file)).href)
})

afterAll(() => {
  globalThis.RegExp = native
})

it('finds the expressions of all files, also those that are constructed', () => {
  expect(found.size).toBeGreaterThan(100)
  // Constructed when the module is loaded, so that the analyser sees them.
  expect(Object.fromEntries(constructed)).toEqual(Object.fromEntries(written))
  expect(findExpressions('f(/a+/g, `${/b/.source}`, RegExp("c"))')).toEqual({
    literals: [/a+/g, /b/],
    constructions: 1,
  })
})

it('accepts linear expressions only', async () => {
  const reported = await Promise.all(
    [...found].map(async ([name, { expression, files: places }]) =>
      (await isLinear(expression)) ? [] : [{ name, places }],
    ),
  )
  const slow = reported.flat()
  expect(slow.filter(({ name }) => !(name in exceptions))).toEqual([])
  const names = slow.map(({ name }) => name)
  expect(Object.keys(exceptions).filter((name) => !names.includes(name))).toEqual([])
})

it.each([/\/+$/, /<(\/?)([a-z]+)([^<>]*)>/gi, /\s*,\s*/, /^(a|a)*$/, /(?<=.)\/+$/])(
  'rejects %s',
  async (expression) => {
    expect(await isLinear(expression)).toBe(false)
  },
)

function add(expression: RegExp, file: string): void {
  const places = found.get(String(expression))?.files ?? []
  found.set(String(expression), { expression, files: [...places, file] })
}

/** The frame that called the recorder: after the error, the recorder itself. */
function callerOf(stack = ''): string {
  return stack.split('\n')[2] ?? ''
}

async function isLinear({ source, flags }: RegExp): Promise<boolean> {
  // Limited by counts of steps, so that the result does not depend on the machine.
  const limits = { timeout: ANALYSIS_MS, attackTimeout: null, incubationTimeout: null }
  return (await check(source, flags, limits)).status === 'safe'
}

/** The literals of a module, and the number of its calls of the constructor. */
function findExpressions(code: string): { literals: RegExp[]; constructions: number } {
  const literals: RegExp[] = []
  let constructions = 0
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const type: unknown = Reflect.get(node, 'type')
    if (type === 'Literal' && node instanceof Object && 'regex' in node) {
      const value: unknown = Reflect.get(node, 'value')
      if (!(value instanceof RegExp)) throw new Error('this Node does not know an expression')
      literals.push(value)
    }
    const callee: unknown = Reflect.get(node, 'callee')
    const isNamed = typeof callee === 'object' && callee !== null && 'name' in callee
    if (isNamed && callee.name === 'RegExp') constructions += 1
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseSync('module.tsx', code).program)
  return { literals, constructions }
}
