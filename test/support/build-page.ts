// Before all tests: the page is built, for the whole program serves it, and nothing may build it beside tests that do.
import { ensureBuilt } from '../../scripts/prepare.mjs'

export const setup = ensureBuilt
