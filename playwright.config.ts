// Browser tests against the real server: in the Chromium of the system, and test/engines in others too.
import { defineConfig } from '@playwright/test'
import { shareCompileCache } from './scripts/compile-cache.mjs'
import { findChromium } from './scripts/find-chromium.mjs'

shareCompileCache()
const executablePath = findChromium()
if (executablePath === undefined) {
  throw new Error('The browser tests need Chromium: install it, or name one in AFTERCAST_CHROMIUM.')
}

export default defineConfig({
  testDir: 'test',
  // Those of other engines take longest: begun last, they would keep one worker busy while the others are done.
  projects: ['engines', 'e2e'].map((name) => ({ name, testMatch: `${name}/**/*.spec.ts` })),
  outputDir: 'test-results/e2e',
  reporter: [['list'], ['./scripts/report-e2e.ts']],
  // Files side by side, and the tests of the longest: most wait for times that the product promises.
  workers: 3,
  forbidOnly: true,
  // Three browsers share two processors: what a page does at once takes longer now and then.
  timeout: 180_000,
  expect: { timeout: 30_000 },
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
