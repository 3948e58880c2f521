// Ends programs and removes their folder when this process ends, however it ends.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Its input ends with this process. It reads the ids of processes until then. */
const SCRIPT = `
while read -r id; do ids="$ids $id"; done
if [ -n "$ids" ]; then kill -KILL $ids; fi
until rm -rf "$1"; do sleep 1; done`

export interface Guard {
  /** Adds a program. */
  add(program: ChildProcess): void
  /** Kills the programs and removes the folder. */
  end(): Promise<void>
}

/** Guards programs that use the folder. Linux and macOS. */
export function createGuard(folder: string): Guard {
  // Detached: Ctrl+C in the terminal ends the tests first.
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const ended = once(shell, 'exit')
  return {
    add: ({ pid }) => void (pid !== undefined && shell.stdin.write(`${pid}\n`)),
    async end() {
      shell.stdin.end()
      await ended
    },
  }
}
