// How much of the machine others took while something was measured.
import { availableParallelism } from 'node:os'
import { readBusySeconds, readEndedChildrenSeconds, readProcessSeconds } from './machine.ts'

/** Begins to watch; the answer tells the share of the machine that went to neither this process nor its children. */
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
