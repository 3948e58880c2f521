// Playwright reporter: writes the report that `npm test` reads.
import type { Reporter, Suite, TestError } from '@playwright/test/reporter'
import { findSlowest, writeTestReport, type TestFailure } from './test-report.ts'

export default class E2eReporter implements Reporter {
  #root: Suite | undefined
  readonly #outside: TestError[] = []

  onBegin(_config: unknown, root: Suite): void {
    this.#root = root
  }

  onError(error: TestError): void {
    this.#outside.push(error)
  }

  onEnd(): void {
    const tests = this.#root?.allTests() ?? []
    // A test that passed only in a retry has failed.
    const failed = tests.filter((test) => ['unexpected', 'flaky'].includes(test.outcome()))
    writeTestReport('e2e', {
      passed: tests.filter((test) => test.outcome() === 'expected').length,
      failures: [
        ...failed.map((test) => {
          const errors = test.results.flatMap((result) => result.errors)
          return failure(test.titlePath().filter(Boolean).join(' > '), errors)
        }),
        ...(this.#outside.length > 0 ? [failure('outside of the tests', this.#outside)] : []),
      ],
      slowest: findSlowest(
        tests.map(({ location, results }) => ({
          file: location.file,
          ms: results.reduce((sum, { duration }) => sum + duration, 0),
        })),
      ),
    })
  }
}

function failure(name: string, errors: readonly TestError[]): TestFailure {
  const reasons = errors.map(({ stack, message, value }) => stack ?? message ?? value ?? '')
  return { name, reason: reasons.join('\n') }
}
