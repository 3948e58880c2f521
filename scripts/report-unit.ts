// Vitest reporter: writes the report that `npm test` reads.
import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import { findSlowest, writeTestReport, type TestFailure } from './test-report.ts'

export default class UnitReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    writeTestReport('unit', {
      passed: modules.flatMap((module) => [...module.children.allTests('passed')]).length,
      failures: [
        ...modules.flatMap(failuresOf),
        ...(unhandled.length > 0 ? [failure('outside of the tests', unhandled)] : []),
      ],
      slowest: findSlowest(
        modules.map((module) => ({
          file: module.relativeModuleId,
          ms: module.diagnostic().duration,
        })),
      ),
    })
  }
}

/** A failed hook or import is no test, but its tests do not run. */
function failuresOf(module: TestModule): TestFailure[] {
  const file = module.relativeModuleId
  const suites = [...module.children.allSuites()]
  return [
    failure(file, module.errors()),
    ...suites.map((suite) => failure(`${file} > ${suite.fullName}`, suite.errors())),
    ...[...module.children.allTests('failed')].map((test) =>
      failure(`${file} > ${test.fullName}`, test.result().errors ?? []),
    ),
  ].filter(({ reason }) => reason !== '')
}

function failure(name: string, errors: readonly SerializedError[]): TestFailure {
  const reasons = errors.map(({ stack, message }) => stack ?? message)
  return { name, reason: reasons.join('\n') }
}
