// `aftercast check`: names every recording that visitors do not get as it was meant, with reason,
// place and advice.
import { listImperfect } from '../catalog/store/imperfect.ts'
import type { ImperfectRecording } from '../catalog/store/imperfect.ts'
import type { Config } from '../config/load-config.ts'
import { isAppError } from '../errors.ts'
import type { SessionInspection } from '../hls/session/session-inspection.ts'
import { adviseOnLimitation, adviseOnReason } from './advice.ts'
import { formatCheckTable } from './check-report.ts'
import type { CheckedProblem, CheckedRecording, CheckReport } from './check-report.ts'
import type { Io } from './io.ts'
import type { Library } from './library.ts'
import { printable } from './printable.ts'
import { withScannedLibrary } from './scan.ts'

/** How `check` answers. */
export interface CheckOptions {
  format: 'table' | 'json'
}

/** Answers the exit code: 1 where a recording cannot be played, else 0. */
export async function check(config: Config, { format }: CheckOptions, io: Io): Promise<number> {
  // Asked now, judged now: a recording that is still being written is named as it is.
  const strict: Config = { ...config, library: { ...config.library, settleSeconds: 0 } }
  return withScannedLibrary(strict, io, async (library) => {
    const report = await makeReport(library, io.signal)
    const lines =
      format === 'json' ? [JSON.stringify(report, undefined, 2)] : formatCheckTable(report)
    for (const line of lines) io.stdout(line)
    const count = (wanted: CheckedRecording['outcome']): number =>
      report.recordings.filter(({ outcome }) => outcome === wanted).length
    const broken = count('unplayable')
    io.stderr(
      `${report.playableSessions} sessions can be played, ${count('limited')} of them with limits; ${broken} recordings cannot`,
    )
    return broken === 0 ? 0 : 1
  })
}

async function makeReport(library: Library, signal: AbortSignal): Promise<CheckReport> {
  const streamers = library.catalog.listStreamers()
  const recordings: CheckedRecording[] = []
  for (const recording of listImperfect(library.database)) {
    const problems = await problemsOf(recording, library, signal)
    const { path, session, state } = recording
    const outcome = state.status === 'flawed' ? 'limited' : state.status
    if (problems.length > 0) recordings.push({ path, ...session, outcome, problems })
  }
  return {
    playableSessions: streamers.reduce((sum, { recording_count: count }) => sum + count, 0),
    recordings,
  }
}

/**
 * The catalog knows that something is wrong; where and what is told by the inspection, which is
 * kept.
 */
async function problemsOf(
  recording: ImperfectRecording,
  library: Library,
  signal: AbortSignal,
): Promise<CheckedProblem[]> {
  const { state } = recording
  if (state.status === 'spare') return [spareProblem(state.servedPath)]
  const inspection = await inspectAgain(recording, library, signal)
  if (state.status === 'unplayable') return [unplayableProblem(state.reason, inspection)]
  const limitations = inspection?.status === 'playable' ? inspection.limitations : []
  return limitations.map((note) => ({ ...note, advice: adviseOnLimitation(note.kind) }))
}

/**
 * Undefined where the recording has changed since it was scanned: what the catalog knows of it is
 * all there is.
 */
async function inspectAgain(
  recording: ImperfectRecording,
  library: Library,
  signal: AbortSignal,
): Promise<SessionInspection | undefined> {
  try {
    return await library.packager.inspect(recording, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (isAppError(error)) return undefined
    throw error
  }
}

function unplayableProblem(
  reason: string,
  inspection: SessionInspection | undefined,
): CheckedProblem {
  const details = inspection?.status === 'unplayable' ? inspection.details : undefined
  const written = /\bbyte (?<offset>\d{1,15})\b/.exec(reason)?.groups?.offset
  return {
    kind: 'unplayable',
    message: reason,
    ...(written !== undefined && { offsetBytes: Number(written) }),
    advice: adviseOnReason(reason),
    ...details,
  }
}

function spareProblem(servedPath: string): CheckedProblem {
  return {
    kind: 'spare',
    message: `not served, ${printable(servedPath)} stands for the same session`,
    advice: 'Nothing is lost; remove it where it is not needed.',
  }
}
