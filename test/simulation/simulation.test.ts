// A short simulation of a cluster; `npm run simulate` runs longer ones.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** Prints a line per seed; rejects if a seed breaks an invariant. */
async function simulate(...options: string[]): Promise<string[]> {
  const args = ['test/simulation/run.ts', '--verbose', ...options]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return stdout.split('\n').filter((line) => line.startsWith('seed '))
}

it('keeps the invariants of the cluster, and repeats a seed event by event', async () => {
  const scenario = ['--only', 'write,hide,unhide', '--fault', 'kill,reset', '--seconds', '10']
  // The first seed again after the others: it does not depend on what ran before.
  const lines = await simulate('--seeds', '3', '--again', ...scenario)
  expect(lines).toHaveLength(4)
  expect(lines.at(-1)).toBe(lines[0])
})
