/**
 * How long a test waits for what comes soon: for what hangs, not a promise of the product. How soon depends on what else
 * the machine does.
 */
export const patienceMs = 120_000
