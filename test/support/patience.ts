/**
 * How long a test waits for what comes soon. It ends a test that hangs and promises nothing of the
 * product, whose speed depends on what else the machine does. Shorter than the pause between two
 * full scans of a library (300 s): a change that shows in time was seen by the watch.
 */
export const patienceMs = 120_000

/** For `expect.poll` and `vi.waitFor`. */
export const soon = { timeout: patienceMs, interval: 100 }

/** Limits of a decoder that time does not end. */
export const patientDecoder = { startMs: patienceMs, jobMs: patienceMs, idleMs: patienceMs }
