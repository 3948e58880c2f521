// What `npm test` reads of a test runner that has ended: passed tests, failures with their reasons,
// and slow files.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface TestReport {
  passed: number
  failures: TestFailure[]
  /** All files of tests, the slowest first. */
  files?: TestFileDuration[]
}

/** A test, a file of tests or the whole run. */
export interface TestFailure {
  name: string
  /** The runner's description; several lines. */
  reason: string
}

export interface TestFileDuration {
  /** Path from the root of the project. */
  file: string
  seconds: number
}

const folder = path.resolve(import.meta.dirname, '../test-results')

/** Writes `test-results/NAME.json`. */
export function writeTestReport(name: string, report: TestReport): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(report, undefined, 2))
}
