// Keeps the server on one processor and the load on another, so that neither takes the other's time.
import { availableParallelism } from 'node:os'
import { hasProgram } from './machine.ts'

/** The words before a command that keep it on a processor; none where that is not possible. */
export type Pin = (processor: 0 | 1) => string[]

/** Says on stderr why it does not pin. */
export function createPin(): Pin {
  if (hasProgram('taskset') && availableParallelism() > 1) {
    return (processor) => ['taskset', '-c', String(processor)]
  }
  console.error('Not pinned: taskset (Debian: util-linux) or a second processor is missing.')
  return () => []
}
