// Reporter of Vitest: writes the report that `npm test` reads.
import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import { writeTestReport, type TestFailure, type TestFileDuration } from './test-report.ts'

export default class UnitReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    writeTestReport('unit', {
      passed: modules.flatMap((module) => [...module.children.allTests('passed')]).length,
      failures: [
        ...modules.flatMap(failuresOf),
        ...(unhandled.length > 0 ? [failure('outside of the tests', unhandled)] : []),
      ],
      files: modules.map(durationOf).toSorted((one, other) => other.seconds - one.seconds),
    })
  }
}

/** Hooks and imports fail apart from tests, and fail all tests in them. */
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

/** Imports, hooks and tests. */
function durationOf(module: TestModule): TestFileDuration {
  const { collectDuration, duration, environmentSetupDuration, setupDuration } = module.diagnostic()
  const totalMs = collectDuration + duration + environmentSetupDuration + setupDuration
  return { file: module.relativeModuleId, seconds: Math.round(totalMs / 100) / 10 }
}
