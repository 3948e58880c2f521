// `aftercast check`: lists the recordings that are unplayable, partly playable or not served.
import { listImperfect } from '../../catalog/store/imperfect.ts'
import type { ImperfectRecording } from '../../catalog/store/imperfect.ts'
import type { Config } from '../../config/load-config.ts'
import { isAppError } from '../../errors.ts'
import { formatProblem } from '../../problem-text.ts'
import type { Problem, SessionLimitation } from '../../problem.ts'
import { formatCheckTable } from './check-report.ts'
import type { CheckedProblem, CheckedRecording, CheckReport } from './check-report.ts'
import type { Io } from '../io.ts'
import type { Library } from '../library.ts'
import { withScannedLibrary } from './scan.ts'

export interface CheckOptions {
  format: 'table' | 'json'
}

/** Returns the exit code: 1 where a recording is unplayable, else 0. */
export async function check(config: Config, { format }: CheckOptions, io: Io): Promise<number> {
  // Growing recordings are checked as they are now.
  const strict: Config = { ...config, library: { ...config.library, settleSeconds: 0 } }
  return withScannedLibrary(strict, io, async (library) => {
    const report = await makeReport(library, io.signal)
    const lines =
      format === 'json' ? [JSON.stringify(report, undefined, 2)] : formatCheckTable(report)
    for (const line of lines) io.stdout(line)
    const count = (wanted: CheckedRecording['outcome']): number =>
      report.recordings.filter(({ outcome }) => outcome === wanted).length
    const unplayable = count('unplayable')
    const sessions = `${report.playableSessions} playable sessions`
    const limited = `${count('limited')} of them with limitations`
    io.stderr(`${sessions}, ${limited}; ${unplayable} unplayable recordings`)
    return unplayable === 0 ? 0 : 1
  })
}

async function makeReport(library: Library, signal: AbortSignal): Promise<CheckReport> {
  const streamers = library.catalog.listStreamers()
  const recordings: CheckedRecording[] = []
  for (const recording of listImperfect(library.database)) {
    const problems = await problemsOf(recording, library, signal)
    const { path, session, state } = recording
    if (problems.length > 0) {
      recordings.push({ path, ...session, outcome: state.status, problems: problems.map(describe) })
    }
  }
  return {
    playableSessions: streamers.reduce((sum, { recording_count: count }) => sum + count, 0),
    recordings,
  }
}

async function problemsOf(
  recording: ImperfectRecording,
  library: Library,
  signal: AbortSignal,
): Promise<Problem[]> {
  const { state } = recording
  switch (state.status) {
    case 'unplayable':
      return [state.reason]
    case 'limited':
      return readLimitations(recording, library, signal)
    case 'duplicate':
      return [{ code: 'duplicate', servedPath: state.servedPath }]
  }
}

/** From the index; empty if the recording has changed since the scan. */
async function readLimitations(
  recording: ImperfectRecording,
  library: Library,
  signal: AbortSignal,
): Promise<SessionLimitation[]> {
  try {
    const inspection = await library.inspect(recording, signal)
    return inspection.status === 'playable' ? inspection.limitations : []
  } catch (error) {
    signal.throwIfAborted()
    if (isAppError(error)) return []
    throw error
  }
}

function describe(problem: Problem): CheckedProblem {
  return { ...problem, ...formatProblem(problem) }
}
