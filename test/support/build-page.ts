// Global setup: builds the page before all tests, because the program serves it, and no test may
// build it while others use it.
import { ensureBuilt } from '../../scripts/prepare.mjs'

export const setup = ensureBuilt
