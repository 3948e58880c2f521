// What of a recording in fragments visitors do not get as it was meant. Pure.
import { MAX_LIMITATIONS } from '../../media-index.ts'
import type { RecordingLimitation } from '../../media-index.ts'
import type { Fmp4Section } from '../fmp4-source.ts'
import type { SkippedBytes } from '../fragments/fragment-walk.ts'

/** What notes are made from. */
export interface FlawedRecording {
  /** Notes of the shorter recording that was gone on with, or of the movie box; see `keepNotes`. */
  kept: readonly RecordingLimitation[]
  /** In the order of the file. */
  skipped: readonly SkippedBytes[]
  sections: readonly Fmp4Section[]
  splitPoints: { offsets: readonly number[]; startTicks: readonly number[]; timescale: number }
}

/** Notes in the order of the file, behind those that have no place in it; undefined where all is well. */
export function describeFlaws(flawed: FlawedRecording): RecordingLimitation[] | undefined {
  const { kept, skipped, sections, splitPoints } = flawed
  const placed = [
    ...kept.filter(({ kind }) => kind === 'damaged'),
    ...skipped.map(describeSkipped),
    ...describeJumps(sections),
  ].map((note) => ({ seconds: secondsAt(note.offsetBytes ?? 0, splitPoints), ...note }))
  placed.sort((one, other) => (one.offsetBytes ?? 0) - (other.offsetBytes ?? 0))
  const limitations = [...kept.filter(({ kind }) => kind !== 'damaged'), ...placed]
  return limitations.length > 0 ? limitations.slice(0, MAX_LIMITATIONS) : undefined
}

/** Notes that stay when reading goes on at a position: what lies behind it, and how it ends, is found anew. */
export function keepLimitations(
  limitations: readonly RecordingLimitation[] = [],
  position: number,
): RecordingLimitation[] {
  return limitations.flatMap((each) => {
    const note = { ...each }
    delete note.seconds
    const isBefore = note.kind === 'damaged' && (note.offsetBytes ?? Infinity) < position
    return isBefore || note.kind.endsWith('-left-out') ? [note] : []
  })
}

function describeSkipped({ from, to, kind }: SkippedBytes): RecordingLimitation {
  if (kind === 'cut-off') {
    return { kind, message: 'the file ends in the middle of a box', offsetBytes: from }
  }
  const message =
    kind === 'fragment'
      ? 'a fragment contradicts itself and is left out'
      : `${to - from} bytes that are no boxes were skipped`
  return { kind: 'damaged', message, offsetBytes: from }
}

/** Sections that begin for no other reason than their time stamps. */
function describeJumps(sections: readonly Fmp4Section[]): RecordingLimitation[] {
  return sections.flatMap((section, at) => {
    const before = sections[at - 1]
    if (before === undefined || isOther(before, section)) return []
    const track = section.origins.findIndex(
      (origin, i) => !Number.isNaN(origin) && !Number.isNaN(before.origins[i] ?? NaN),
    )
    const from = (before.origins[track] ?? NaN) + before.latestSeconds
    const seconds = Math.round((section.origins[track] ?? NaN) + section.earliestSeconds - from)
    const by = Number.isFinite(seconds) ? ` by ${seconds} s` : ''
    return [
      {
        kind: 'gap' as const,
        message: `the time stamps jump${by}`,
        offsetBytes: section.start,
        seconds: section.startSeconds,
      },
    ]
  })
}

function isOther(before: Fmp4Section, section: Fmp4Section): boolean {
  if (before.init !== section.init) return true
  return section.descriptions.some((description, track) => {
    const last = before.descriptions[track] ?? 0
    return description !== 0 && last !== 0 && description !== last
  })
}

/** Start of the cut in which a position is. */
function secondsAt(
  position: number,
  { offsets, startTicks, timescale }: FlawedRecording['splitPoints'],
) {
  const splitPoint = offsets.findLastIndex((offset) => offset <= position)
  return (startTicks[splitPoint] ?? 0) / timescale
}
