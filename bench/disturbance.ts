// How much of the machine others took while something was measured.
import { availableParallelism } from 'node:os'
import { readBusySeconds, readEndedChildrenSeconds, readProcessSeconds } from './machine.ts'

/**
 * Starts to measure. The returned function returns the share of processor time that neither this
 * process nor its children used.
 */
export function watchOthers(): () => number {
  const before = readClocks()
  return () => {
    const after = readClocks()
    const others = after.busy - before.busy - (after.own - before.own)
    const wall = (after.wallMs - before.wallMs) / 1000
    return Math.max(0, others) / (wall * availableParallelism())
  }
}

function readClocks() {
  return {
    own: readProcessSeconds(process.pid) + readEndedChildrenSeconds(),
    busy: readBusySeconds(),
    wallMs: performance.now(),
  }
}
