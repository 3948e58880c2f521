// What `aftercast check` found, as a table or as one JSON document. Pure.
import type { SessionReference } from '../../shared/paths.ts'
import { formatDuration } from '../catalog/names/format-duration.ts'
import { printable } from './printable.ts'

/** The JSON document; docs/check.md tells its fields. */
export interface CheckReport {
  /** Number of sessions that can be played, with limits or without. */
  playableSessions: number
  /** Sorted by path. */
  recordings: CheckedRecording[]
}

/** A recording that is not fully playable. */
export interface CheckedRecording extends SessionReference {
  path: string
  /**
   * `unplayable`: not at all; `limited`: with what the problems tell; `spare`: not served beside
   * another.
   */
  outcome: 'unplayable' | 'limited' | 'spare'
  problems: CheckedProblem[]
}

export interface CheckedProblem {
  /** `unplayable`, `spare`, or the kind of a limit. */
  kind: string
  message: string
  /** Where in the file it is, where that is known. */
  offsetBytes?: number
  /** Where on the session's timeline it is, where that is known. */
  seconds?: number
  /** What a person can do. */
  advice: string
}

const OUTCOMES: Record<CheckedRecording['outcome'], string> = {
  unplayable: 'cannot play',
  limited: 'limited',
  spare: 'not served',
}

/**
 * The table as lines, none where all is well. Names stand last, so that those of any script and
 * width stay in line.
 */
export function formatCheckTable({ recordings }: CheckReport): string[] {
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
  text: 'recording: reason, and what to do',
}

function rowsOf({ path, outcome }: CheckedRecording, problem: CheckedProblem): string[] {
  const { message, offsetBytes, seconds, advice } = problem
  const byte = offsetBytes === undefined ? '' : String(offsetBytes)
  const time = seconds === undefined ? '' : formatDuration(seconds)
  const text = `${printable(path)}: ${printable(message)}`
  return [
    row({ outcome: OUTCOMES[outcome], byte, time, text }),
    row({ outcome: '', byte: '', time: '', text: `→ ${printable(advice)}` }),
  ]
}

function row({ outcome, byte, time, text }: Row): string {
  return `${outcome.padEnd(11)}  ${byte.padStart(12)}  ${time.padStart(9)}  ${text}`
}
