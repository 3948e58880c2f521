// Collects the limitations of a fragmented recording.
import { MAX_LIMITATIONS } from '../../media-index.ts'
import type { Fmp4Section } from '../fmp4-source.ts'
import type { SkippedBytes } from '../fragments/fragment-walk.ts'
import type { Limitation } from '../../../base/problem.ts'
import { secondsAt } from '../../timeline/split-points.ts'

export interface LimitationSources {
  /**
   * Limitations of the movie box, or of the index that the scan resumed from; see
   * `retainLimitations`.
   */
  earlierLimitations: readonly Limitation[]
  /** In file order. */
  skipped: readonly SkippedBytes[]
  sections: readonly Fmp4Section[]
  splitPoints: { offsets: readonly number[]; startTicks: readonly number[]; timescale: number }
}

/** Limitations without a position first, then in file order; undefined if there are none. */
export function describeLimitations(sources: LimitationSources): Limitation[] | undefined {
  const { earlierLimitations, skipped, sections, splitPoints } = sources
  const located = [
    ...earlierLimitations.filter(isInMedia),
    ...skipped.map(describeSkipped),
    ...describeJumps(sections),
  ].map((limitation) => ({
    seconds: secondsAt(limitation.offsetBytes ?? 0, splitPoints),
    ...limitation,
  }))
  located.sort((one, other) => (one.offsetBytes ?? 0) - (other.offsetBytes ?? 0))
  const limitations = [...earlierLimitations.filter((each) => !isInMedia(each)), ...located]
  return limitations.length > 0 ? limitations.slice(0, MAX_LIMITATIONS) : undefined
}

/** Limitations that stay when a scan resumes at a position: what follows it is found again. */
export function retainLimitations(
  limitations: readonly Limitation[] = [],
  position: number,
): Limitation[] {
  return limitations.flatMap((each) => {
    const limitation = { ...each }
    delete limitation.seconds
    const isBefore = isInMedia(limitation) && (limitation.offsetBytes ?? Infinity) < position
    return isBefore || limitation.code.endsWith('-not-served') ? [limitation] : []
  })
}

/** Whether a limitation is of a range of the media that was skipped. */
function isInMedia({ code }: Limitation): boolean {
  return code === 'corrupt' || code === 'fragment-invalid'
}

function describeSkipped({ from, to, kind }: SkippedBytes): Limitation {
  switch (kind) {
    case 'truncated':
      return { code: 'truncated', unit: 'box', offsetBytes: from }
    case 'fragment':
      return { code: 'fragment-invalid', offsetBytes: from }
    case 'noise':
      return { code: 'corrupt', lengthBytes: to - from, offsetBytes: from }
  }
}

/** Sections that start only because of their timestamps. */
function describeJumps(sections: readonly Fmp4Section[]): Limitation[] {
  return sections.flatMap((section, at) => {
    const before = sections[at - 1]
    if (before === undefined || hasOtherCodec(before, section)) return []
    const track = section.origins.findIndex(
      (origin, i) => !Number.isNaN(origin) && !Number.isNaN(before.origins[i] ?? NaN),
    )
    const from = (before.origins[track] ?? NaN) + before.latestSeconds
    const jump = Math.round((section.origins[track] ?? NaN) + section.earliestSeconds - from)
    return [
      {
        code: 'gap' as const,
        ...(Number.isFinite(jump) && { jumpSeconds: jump }),
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
