// The report of a test runner that `npm test` reads: passed tests, failures with their reasons, and
// the slowest files.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface TestReport {
  passed: number
  failures: TestFailure[]
  /** The slowest files, slowest first. */
  slowest: FileTime[]
}

/** A test, a file of tests or the whole run. */
export interface TestFailure {
  name: string
  /** Message of the runner, in several lines. */
  reason: string
}

/** Sum of the times of all tests in a file. */
export interface FileTime {
  file: string
  seconds: number
}

const slowestCount = 10
const root = path.resolve(import.meta.dirname, '..')

/** Writes `test-results/NAME.json`. */
export function writeTestReport(name: string, report: TestReport): void {
  const folder = path.join(root, 'test-results')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(report, undefined, 2))
}

/** Sums the times by file; files are named relative to the project. */
export function findSlowest(tests: readonly { file: string; ms: number }[]): FileTime[] {
  const files = new Map<string, number>()
  for (const { file, ms } of tests) {
    const name = path.relative(root, path.resolve(root, file))
    files.set(name, (files.get(name) ?? 0) + ms)
  }
  return [...files]
    .map(([file, ms]) => ({ file, seconds: Math.round(ms / 100) / 10 }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, slowestCount)
}
