// Programs and folders of a process that is killed, with real processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { soon } from '../patience.ts'
import { makeTempFolder } from '../temp-folder.ts'

const MODULE = new URL('./end-with-process.ts', import.meta.url).href

/** Starts a program with a guard, prints its id, and waits. */
const OWNER = `
  import { spawn } from 'node:child_process'
  import { createGuard } from ${JSON.stringify(MODULE)}
  const guard = createGuard(process.argv[1])
  const program = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
  guard.add(program)
  console.log(program.pid)
  setInterval(() => {}, 1000)`

it('ends programs and removes their folder when their owner is killed', async () => {
  const folder = makeTempFolder('guard')
  writeFileSync(path.join(folder, 'file'), 'x')
  const flags = ['--input-type=module', '--eval', OWNER, folder]
  const owner = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line]: unknown[] = await once(owner.stdout, 'data')
  const program = Number(String(line))
  expect([isRunning(program), existsSync(folder)]).toEqual([true, true])
  owner.kill('SIGKILL')
  await expect.poll(() => [isRunning(program), existsSync(folder)], soon).toEqual([false, false])
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
