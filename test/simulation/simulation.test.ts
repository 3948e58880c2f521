// A short simulation of a cluster; `npm run simulate` runs longer ones.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { childrenOf } from '../support/servers/start-server.ts'

const PROGRAM = 'test/simulation/run.ts'

/** Prints a line per seed; rejects if a seed breaks an invariant. */
async function simulate(...options: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, '--verbose', ...options])
  return stdout.split('\n').filter((line) => line.startsWith('seed '))
}

it('keeps the invariants of the cluster, and repeats a seed event by event', async () => {
  // The first seed again after the others: it does not depend on what ran before.
  const lines = await simulate('--seeds', '12', '--again')
  expect(lines).toHaveLength(13)
  expect(lines.at(-1)).toBe(lines[0])
})

it('ends its database when it is stopped', async () => {
  const args = [PROGRAM, '--verbose', '--seconds', '1', '--seeds', '100000']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  const children = childrenOf(child.pid ?? 0)
  expect(children).not.toHaveLength(0)
  child.kill('SIGTERM')
  await once(child, 'exit')
  expect(children.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([])
})
