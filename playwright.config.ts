// Browser tests against the real server: in the system's Chromium, test/engines in other engines
// too.
import { defineConfig } from '@playwright/test'
import { shareCompileCache } from './scripts/compile-cache.mjs'
import { findHeadlessChromium, findProgram, findPrograms } from './scripts/programs.mjs'
import { patienceMs } from './test/support/patience.ts'

shareCompileCache()
const executablePath = findHeadlessChromium()
const hasCluster = [findPrograms('Ceph'), findProgram('PostgreSQL'), findProgram('Varnish')].every(
  (found) => found !== undefined,
)
if (executablePath === undefined) {
  throw new Error(
    'The browser tests need Chromium: install it, or set AFTERCAST_CHROMIUM to its path.',
  )
}

export default defineConfig({
  testDir: 'test',
  // `npm test` names the servers that this machine lacks.
  testIgnore: hasCluster ? [] : 'e2e/cluster.spec.ts',
  // The other engines first: their tests take longest, and at the end one worker would run alone.
  projects: ['engines', 'e2e'].map((name) => ({ name, testMatch: `${name}/**/*.spec.ts` })),
  globalSetup: './test/e2e/indexed-library.ts',
  outputDir: 'test-results/e2e',
  reporter: [['list'], ['./scripts/report-e2e.ts']],
  workers: 3,
  forbidOnly: true,
  // For what hangs. How long a test takes depends on what else the machine does.
  timeout: 5 * patienceMs,
  expect: { timeout: patienceMs },
  use: {
    launchOptions: {
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--autoplay-policy=no-user-gesture-required',
      ],
    },
  },
})
