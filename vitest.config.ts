// Unit tests of server, shared and web beside their files, and integration tests under test/.
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { shareCompileCache } from './scripts/compile-cache.mjs'

shareCompileCache()

/** Those that start programs take longest: begun last, they would keep one worker busy while the others are done. */
class ProgramsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      /\/test\/bench/.test(moduleId) ? 0 : /\/test\/[^/]+$/.test(moduleId) ? 1 : 2
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['{server,shared,web,scripts}/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/e2e/**'],
    globalSetup: 'test/support/build-page.ts',
    sequence: { sequencer: ProgramsFirst },
    // For what hangs: how long a test, or starting a program, takes depends on what else the machine does.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    // Most of the time is waiting: for programs to start, and for times that the product promises.
    maxWorkers: 3,
  },
})
