// What `npm test` reads of a test runner that has ended: how many tests passed, and what failed with its reason.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface TestReport {
  passed: number
  failures: TestFailure[]
}

/** A test, a file of tests or the whole run. */
export interface TestFailure {
  name: string
  /** What the runner says of it; several lines. */
  reason: string
}

const folder = path.resolve(import.meta.dirname, '../test-results')

/** Writes `test-results/NAME.json`. */
export function writeTestReport(name: string, report: TestReport): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(report, undefined, 2))
}
