// What a file of tests has started or made: it ends after the last test, in reverse order.
const ends: (() => unknown)[] = []

/**
 * Calls `end` after the tests of this file in Vitest, and of the worker in Playwright. It may have
 * been called before.
 */
export function afterTests(end: () => unknown): void {
  ends.push(end)
}

export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end()
}
