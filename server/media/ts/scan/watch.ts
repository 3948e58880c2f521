// Which packets of a recording the scan visits. Tables are visited in whole; streams only where a
// unit starts, and further while their machines need more of the unit.
import { PID_COUNT } from '../packets/packet.ts'
import { ALL, STARTS, UNKNOWN_COUNTER } from '../packets/packet-walk.ts'
import { PAT_PID } from '../packets/program-table.ts'
import type { ProgramState, StoredWatch, Watch } from './scan-state.ts'

export function createWatch(): Watch {
  return {
    interest: new Uint8Array(PID_COUNT),
    lastCounters: new Uint8Array(PID_COUNT).fill(UNKNOWN_COUNTER),
  }
}

/** Resets the interest to the current program. */
export function watchProgram(watch: Watch, { served, program }: ProgramState): void {
  const { interest, lastCounters } = watch
  interest.fill(0)
  watchStream(watch, served.audio, STARTS)
  watchStream(watch, served.video, STARTS)
  interest[program.pmtPid] = ALL
  interest[PAT_PID] = ALL
  interest.forEach((level, pid) => {
    if (level === 0) lastCounters[pid] = UNKNOWN_COUNTER
  })
}

/** Sets which packets of a served stream are visited. */
export function watchStream(
  { interest }: Watch,
  stream: { pid: number } | undefined,
  level: typeof STARTS | typeof ALL,
): void {
  if (stream !== undefined) interest[stream.pid] = level
}

export function storeWatch({ interest, lastCounters }: Watch): StoredWatch {
  const watched: StoredWatch = []
  interest.forEach((level, pid) => {
    if (level > 0) watched.push({ pid, level, counter: lastCounters[pid] ?? UNKNOWN_COUNTER })
  })
  return watched
}

export function restoreWatch(watched: StoredWatch): Watch {
  const watch = createWatch()
  for (const { pid, level, counter } of watched) {
    watch.interest[pid] = level
    watch.lastCounters[pid] = counter
  }
  return watch
}
