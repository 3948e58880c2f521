// `aftercast check`: lists the recordings that are unplayable, partly playable or not served.
import { closingAsync } from '../../base/closing.ts'
import { countOf } from '../../../shared/count-of.ts'
import { listImperfect, problemOf } from '../../library/catalog/store/imperfect.ts'
import type { Config } from '../../base/config/load-config.ts'
import { formatProblem } from '../../base/problem-text.ts'
import type { Problem, SessionLimitation } from '../../base/problem.ts'
import { addRefusedChats } from './check-chats.ts'
import { formatCheckTable } from './check-report.ts'
import type { CheckedProblem, CheckedRecording, CheckReport } from './check-report.ts'
import { missingDecoders } from '../../media/codec/missing-decoders.ts'
import { createLog } from '../../base/log/logger.ts'
import { openSharedArtifacts } from '../artifacts.ts'
import type { CheckOptions } from '../cli-values.ts'
import type { Io } from '../io.ts'
import { openLibrary } from '../library.ts'
import type { Library } from '../library.ts'
import { findRecordings } from '../recordings.ts'
import { inspectIn } from '../scanning.ts'
import { reportScan, scanOnce } from './scan.ts'
import type { ScanOutcome } from './scan.ts'

/**
 * Returns the exit code: 1 where a recording is unplayable, it or a folder cannot be read, or none
 * matches the layout, else 0. Writes nothing to the data folder or to artifacts, which a server may
 * use meanwhile, of other recordings or with another layout.
 */
export async function check(config: Config, { format }: CheckOptions, io: Io): Promise<number> {
  const { report, outcome } = await makeReport(config, io)
  const isWhole = reportScan(outcome, io)
  const lines =
    format === 'json' ? [JSON.stringify(report, undefined, 2)] : formatCheckTable(report)
  for (const line of lines) io.stdout(line)
  const count = (wanted: CheckedRecording['outcome']): number =>
    report.recordings.filter(({ outcome }) => outcome === wanted).length
  const unplayable = count('unplayable')
  const sessions = countOf(report.playableSessions, 'playable session')
  const limited = `${count('limited')} of them with limitations`
  io.stderr(`${sessions}, ${limited}; ${countOf(unplayable, 'unplayable recording')}`)
  for (const { needs, sessions: affected } of report.missingDecoders) {
    io.stderr(`${countOf(affected, 'playable session')} in ${needs}, which not every browser plays`)
  }
  const isEmpty = report.playableSessions + report.recordings.length === 0
  return unplayable > 0 || !isWhole || (isEmpty && outcome.note !== undefined) ? 1 : 0
}

/** Limitations by path; the catalog stores only that there are some. */
type Limitations = Map<string, SessionLimitation[]>

interface Checked {
  report: CheckReport
  outcome: ScanOutcome
}

async function makeReport(given: Config, io: Io): Promise<Checked> {
  // Growing recordings are checked as they are now.
  const config: Config = { ...given, library: { ...given.library, settleSeconds: 0 } }
  const { logger } = createLog(config, io.log)
  const { signal } = io
  const location = await findRecordings(config, io)
  const artifacts = await openSharedArtifacts({ config, location, logger, io, access: 'read' })
  const opening = { config, location, artifacts, mode: 'private', logger, signal } as const
  const library = await openLibrary(opening)
  await using _closing = closingAsync(library)
  const { limitations, codecs, ...followed } = followInspections(library)
  const inspect = inspectIn(followed)
  const outcome = await scanOnce({ config, io, logger, library }, inspect)
  const scanned = reportOf(library, limitations)
  const recordings = config.chat
    ? await addRefusedChats(scanned.recordings, library, signal)
    : scanned.recordings
  const report = { ...scanned, recordings, missingDecoders: countDecoders(codecs) }
  const unread = outcome.unread.recordings.size
  const playableSessions = Math.max(0, report.playableSessions - unread)
  return { report: { ...report, playableSessions }, outcome }
}

/** Inspects as `library`, and notes what the catalog does not store. */
function followInspections(library: Pick<Library, 'inspect'>) {
  const limitations: Limitations = new Map()
  const codecs = new Map<string, readonly string[]>()
  const inspect: Library['inspect'] = async (recording, signal) => {
    const inspection = await library.inspect(recording, signal)
    if (inspection.status === 'playable') codecs.set(recording.path, inspection.videoCodecs)
    if (inspection.status === 'playable' && inspection.limitations.length > 0) {
      limitations.set(recording.path, inspection.limitations)
    }
    return inspection
  }
  return { limitations, codecs, inspect }
}

/** How many sessions need each decoder that not every browser has, most first. */
function countDecoders(codecs: Map<string, readonly string[]>): CheckReport['missingDecoders'] {
  const needed = [...codecs.values()].flatMap((list) => [...new Set(list.flatMap(missingDecoders))])
  return [...Map.groupBy(needed, (needs) => needs)]
    .map(([needs, { length: sessions }]) => ({ needs, sessions }))
    .sort((a, b) => b.sessions - a.sessions)
}

function reportOf(
  library: Library,
  limitations: Limitations,
): Omit<CheckReport, 'missingDecoders'> {
  const streamers = library.catalog.listStreamers()
  const recordings: CheckedRecording[] = []
  for (const recording of listImperfect(library.database)) {
    const { path, session, state } = recording
    const problem = problemOf(state)
    const problems = problem ? [problem] : (limitations.get(path) ?? [])
    if (problems.length > 0) {
      recordings.push({ path, ...session, outcome: state.status, problems: problems.map(describe) })
    }
  }
  return {
    playableSessions: streamers.reduce((sum, { recording_count: count }) => sum + count, 0),
    recordings,
  }
}

function describe(problem: Problem): CheckedProblem {
  return { ...problem, ...formatProblem(problem) }
}
