// Unit tests of server, shared and web beside their files, and integration tests under test/.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{server,shared,web,scripts}/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/e2e/**'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Most of the time is waiting: for programs to start, and for times that the product promises.
    maxWorkers: 3,
  },
})
