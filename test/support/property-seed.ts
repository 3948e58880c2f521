// Before the tests of a file: the seed of its properties. Without one, each run draws its own; a
// property that fails prints it.
import fc from 'fast-check'

const seed = process.env.TEST_SEED
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
