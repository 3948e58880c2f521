// Before the tests of a file: what they start or make ends after the last one.
import { afterAll } from 'vitest'
import { endAll } from './after-tests.ts'

afterAll(endAll)
