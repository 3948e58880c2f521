// Divides a segment at the sections of its recording.
import type { SplitPointRange } from '../../media-index.ts'
import type { TsSection, TsSource } from '../ts-source.ts'

/** Split points of one section. */
export interface RecordedSegment extends SplitPointRange {
  section: TsSection
  /** Whether split points of the same section follow. */
  goesOn: boolean
}

export function splitAtSections(
  { sections, offsets }: TsSource,
  { from, to }: SplitPointRange,
): RecordedSegment[] {
  return sections.flatMap((section, i) => {
    const end = sections[i + 1]?.firstSplitPoint ?? offsets.length
    const range = { from: Math.max(from, section.firstSplitPoint), to: Math.min(to, end) }
    return range.from < range.to ? [{ ...range, section, goesOn: range.to < end }] : []
  })
}
