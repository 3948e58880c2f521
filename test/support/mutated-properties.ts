// Before the tests of a file in `npm run mutate`: equal runs with equal results, and no search for
// a smaller counterexample, which takes most of the time of a mutant.
import fc from 'fast-check'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1, endOnFailure: true })
