// Before the tests of a file: after the last one, what they have started or made ends, and what
// they have replaced is as before.
import { afterAll, vi } from 'vitest'
import { endAll } from './after-tests.ts'

afterAll(async () => {
  await endAll()
  vi.useRealTimers()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})
