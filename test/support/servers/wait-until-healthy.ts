// Waits for a proxy that a test has started.
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { patienceMs } from '../patience.ts'

const POLL_MS = 50

/**
 * Resolves when the server behind the proxy is ready. Rejects with the output of the proxy if it
 * ends before.
 */
export async function waitUntilHealthy(url: string, child: ChildProcess): Promise<void> {
  let output = ''
  const note = (chunk: Buffer): void => void (output += chunk.toString())
  child.stdout?.on('data', note)
  child.stderr?.on('data', note)
  const untilMs = performance.now() + patienceMs
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null || performance.now() > untilMs) throw new Error(output)
    await sleep(POLL_MS)
  }
}

async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}
