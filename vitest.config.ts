// Unit tests of server, shared and web next to their files, and integration tests in test/.
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { shareCompileCache } from './scripts/compile-cache.mjs'
import { hlsFromSource } from './scripts/hls-from-source.ts'
import { findProgram, findPrograms } from './scripts/programs.mjs'
import { patienceMs, soon } from './test/support/patience.ts'

shareCompileCache()

/** The longest files; started last, one of them would run alone at the end. */
const LONGEST = [
  'test/bench-smoke',
  'test/library-changes',
  'test/growing-recordings',
  'test/hls-http',
  'test/corrupt-recordings',
  'test/media-bombs',
  'test/object-storage',
  'test/cluster-failures',
  'test/cluster-equality',
]

/** Files that need servers which this machine may lack; `npm test` names those. */
const EXCLUDED = [
  ...(findPrograms('Ceph') === undefined
    ? [
        'server/storage/recordings/s3/s3-storage.test.ts',
        'server/storage/artifacts/artifact-stores.test.ts',
        'test/{artifacts,object-storage}.test.ts',
        'test/cluster-{equality,failures}.test.ts',
      ]
    : []),
  ...(findProgram('PostgreSQL') === undefined || findProgram('PgBouncer') === undefined
    ? [
        'server/cluster/*/*.test.ts',
        'test/simulation/*.test.ts',
        'test/{cluster,cluster-*,migrate-to-database}.test.ts',
      ]
    : []),
]

/** Long files first, then those that start programs, then all others. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const longest = LONGEST.findIndex((name) => moduleId.includes(`/${name}.`))
      if (longest !== -1) return longest
      return /\/test\/[^/]+$/.test(moduleId) ? LONGEST.length : LONGEST.length + 1
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  plugins: [hlsFromSource()],
  test: {
    include: ['{server,shared,web,scripts}/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/e2e/**', ...EXCLUDED],
    globalSetup: ['test/support/build-page.ts', 'test/support/stop-postgres.ts'],
    setupFiles: ['patient-dom', 'property-seed', 'end-after-tests'].map(
      (name) => `test/support/${name}.ts`,
    ),
    sequence: { sequencer: LongFirst },
    // For tests that hang: how long a test takes depends on what else the machine does.
    testTimeout: 5 * patienceMs,
    hookTimeout: 5 * patienceMs,
    expect: { poll: soon },
    // Tests wait for programs part of the time: three fill two processors.
    maxWorkers: 3,
    // Tests that run at the same time in one file wait nearly all of their time.
    maxConcurrency: 30,
  },
})
