// `aftercast check`: names every recording that no visitor can play, with its reason.
import { listUnserved } from '../catalog/unserved.ts'
import type { UnservedRecording } from '../catalog/unserved.ts'
import type { Config } from '../config/load-config.ts'
import type { Io } from './io.ts'
import { printable } from './printable.ts'
import { withScannedLibrary } from './scan.ts'

/** Answers the exit code: 1 where a recording cannot be played, else 0. */
export async function check(config: Config, io: Io): Promise<number> {
  // Asked now, judged now: a recording that is still being written is named as it is.
  const strict: Config = { ...config, library: { ...config.library, settleSeconds: 0 } }
  return withScannedLibrary(strict, io, ({ database, catalog }) => {
    const unserved = listUnserved(database)
    for (const recording of unserved) io.stdout(describe(recording))
    const broken = unserved.filter(({ status }) => status === 'unplayable').length
    const playable = catalog.listStreamers().reduce((sum, item) => sum + item.recording_count, 0)
    io.stderr(`${playable} sessions can be played, ${broken} recordings cannot`)
    return broken === 0 ? 0 : 1
  })
}

/** One line, whatever a file name holds. */
function describe(recording: UnservedRecording): string {
  const path = printable(recording.path)
  if (recording.status === 'unplayable') return `${path}: ${printable(recording.reason)}`
  return `${path}: not served, ${printable(recording.servedPath)} stands for the same session`
}
