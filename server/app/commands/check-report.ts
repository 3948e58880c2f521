// The report of `aftercast check`: its JSON document, and its format as a table. Pure.
import type { SessionReference } from '../../../shared/paths.ts'
import type { ProblemText } from '../../base/problem-text.ts'
import type { Problem } from '../../base/problem.ts'
import type { MissingDecoder } from '../../media/codec/missing-decoders.ts'
import { formatDuration } from '../../library/catalog/names/format-duration.ts'
import { printable } from '../../../shared/printable.ts'

/** The JSON document; docs/check.md lists its fields. */
export interface CheckReport {
  /** Number of playable sessions, with limitations or without. */
  playableSessions: number
  /** What these sessions need, and not every browser has. One may need several. */
  missingDecoders: { needs: MissingDecoder; sessions: number }[]
  /** Sorted by path. */
  recordings: CheckedRecording[]
}

/** A recording that is not fully playable. */
export interface CheckedRecording extends SessionReference {
  path: string
  /** `limited`: plays with limitations; `duplicate`: another recording is served. */
  outcome: 'unplayable' | 'limited' | 'duplicate'
  problems: CheckedProblem[]
}

/** The code with its parameters, and the text for it. */
export type CheckedProblem = Problem & ProblemText

/** The lines of the table. Names are last, so that their width does not move a column. */
export function formatCheckTable({ recordings }: Pick<CheckReport, 'recordings'>): string[] {
  const rows = recordings.flatMap((recording) =>
    recording.problems.flatMap((problem) => rowsOf(recording, problem)),
  )
  return rows.length === 0 ? [] : [row(HEAD), ...rows]
}

interface Row {
  outcome: string
  byte: string
  time: string
  text: string
}

const HEAD: Row = {
  outcome: 'outcome',
  byte: 'byte',
  time: 'time',
  text: 'recording: problem, and remedy',
}

function rowsOf({ path, outcome }: CheckedRecording, problem: CheckedProblem): string[] {
  const { message, advice } = problem
  const byte = 'offsetBytes' in problem ? String(problem.offsetBytes) : ''
  const time = 'seconds' in problem ? formatDuration(problem.seconds) : ''
  const text = `${printable(path)}: ${printable(message)}`
  return [
    row({ outcome, byte, time, text }),
    row({ outcome: '', byte: '', time: '', text: `→ ${printable(advice)}` }),
  ]
}

function row({ outcome, byte, time, text }: Row): string {
  return `${outcome.padEnd(11)}  ${byte.padStart(12)}  ${time.padStart(9)}  ${text}`
}
