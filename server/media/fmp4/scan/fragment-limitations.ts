// Collects the limitations of a fragmented recording.
import { MAX_LIMITATIONS } from '../../media-index.ts'
import type { RecordingLimitation } from '../../media-index.ts'
import type { Fmp4Section } from '../fmp4-source.ts'
import type { SkippedBytes } from '../fragments/fragment-walk.ts'

export interface LimitationSources {
  /**
   * Limitations of the movie box, or of the index that the scan resumed from; see
   * `retainLimitations`.
   */
  earlierLimitations: readonly RecordingLimitation[]
  /** In file order. */
  skipped: readonly SkippedBytes[]
  sections: readonly Fmp4Section[]
  splitPoints: { offsets: readonly number[]; startTicks: readonly number[]; timescale: number }
}

/** Limitations without a position first, then in file order; undefined if there are none. */
export function describeLimitations(sources: LimitationSources): RecordingLimitation[] | undefined {
  const { earlierLimitations, skipped, sections, splitPoints } = sources
  const located = [
    ...earlierLimitations.filter(({ kind }) => kind === 'damaged'),
    ...skipped.map(describeSkipped),
    ...describeJumps(sections),
  ].map((limitation) => ({
    seconds: secondsAt(limitation.offsetBytes ?? 0, splitPoints),
    ...limitation,
  }))
  located.sort((one, other) => (one.offsetBytes ?? 0) - (other.offsetBytes ?? 0))
  const limitations = [...earlierLimitations.filter(({ kind }) => kind !== 'damaged'), ...located]
  return limitations.length > 0 ? limitations.slice(0, MAX_LIMITATIONS) : undefined
}

/** Limitations that stay when a scan resumes at a position: what follows it is found again. */
export function retainLimitations(
  limitations: readonly RecordingLimitation[] = [],
  position: number,
): RecordingLimitation[] {
  return limitations.flatMap((each) => {
    const limitation = { ...each }
    delete limitation.seconds
    const isBefore =
      limitation.kind === 'damaged' && (limitation.offsetBytes ?? Infinity) < position
    return isBefore || limitation.kind.endsWith('-left-out') ? [limitation] : []
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

/** Sections that start only because of their timestamps. */
function describeJumps(sections: readonly Fmp4Section[]): RecordingLimitation[] {
  return sections.flatMap((section, at) => {
    const before = sections[at - 1]
    if (before === undefined || hasOtherCodec(before, section)) return []
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

function hasOtherCodec(before: Fmp4Section, section: Fmp4Section): boolean {
  if (before.init !== section.init) return true
  return section.descriptions.some((description, track) => {
    const last = before.descriptions[track] ?? 0
    return description !== 0 && last !== 0 && description !== last
  })
}

/** Start of the split point that contains a position. */
function secondsAt(
  position: number,
  { offsets, startTicks, timescale }: LimitationSources['splitPoints'],
) {
  const splitPoint = offsets.findLastIndex((offset) => offset <= position)
  return (startTicks[splitPoint] ?? 0) / timescale
}
