// What the trials of an image have in common: checks that print a line each, and waiting.

const READY_WITHIN_MS = 60_000
const POLL_MS = 250

/** Prints a line that something works. */
export function report(line: string): void {
  console.log(`ok  ${line}`)
}

/** Reports that `act` has resolved, or rejects with its reason. */
export async function check(what: string, act: () => Promise<unknown>): Promise<void> {
  await act().catch((cause: unknown) => {
    throw new Error(`${what}: ${String(cause)}`, { cause })
  })
  report(what)
}

/** Rejects if the text is not `expected`. */
export async function expectText(read: Promise<string>, expected: string): Promise<void> {
  const text = await read
  if (text !== expected) throw new Error(`${text} instead of ${expected}`)
}

/** Rejects unless the response has this status. */
export async function expectStatus(url: string, expected: number): Promise<void> {
  const { status } = await fetch(url)
  if (status !== expected) throw new Error(`status ${status} of ${url}`)
}

/** Resolves when the log of a server names its address, or rejects after a minute. */
export async function expectReady(readLog: () => Promise<string>): Promise<void> {
  const deadlineMs = Date.now() + READY_WITHIN_MS
  while (!(await readLog()).includes('Aftercast is ready')) {
    if (Date.now() > deadlineMs) throw new Error(`not ready:\n${await readLog()}`)
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS)
    })
  }
}
