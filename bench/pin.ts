// Pins the server to one processor and the load to another, so that they do not share one.
import { availableParallelism } from 'node:os'
import { hasProgram } from './machine.ts'

/** Prefix of a command that pins it to a processor; empty where that is not possible. */
export type Pin = (processor: 0 | 1) => string[]

/** Prints on stderr why it does not pin. */
export function createPin(): Pin {
  if (hasProgram('taskset') && availableParallelism() > 1) {
    return (processor) => ['taskset', '-c', String(processor)]
  }
  console.error('Not pinned: taskset (Debian: util-linux) or a second processor is missing.')
  return () => []
}
