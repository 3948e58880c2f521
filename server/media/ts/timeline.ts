// Lays the sections of a scan one behind the other on the session's timeline.
import type { CutList, ScanSection } from './scan-state.ts'

/** Length of a picture whose successor is not known, in ticks: one 25th of a second. */
const LONE_PICTURE_TICKS = 3600

interface Timeline {
  /** Start of each cut, in ticks; the first is 0, each is greater than the one before. */
  startTicks: Float64Array
  endTicks: number
  /** Per section: the time on the recording's clock where the session's timeline is 0. */
  shifts: number[]
}

/** Times of the cuts on the session's timeline. Of each, only what the file holds before it decides. */
export function layTimeline(cuts: CutList, sections: ScanSection[]): Timeline {
  const shifts: number[] = []
  const startTicks = new Float64Array(cuts.pts.length)
  let shift = 0
  let end = 0
  sections.forEach((section, i) => {
    const { firstCut, continues } = section
    const nextCut = sections[i + 1]?.firstCut ?? cuts.pts.length
    const opening = continues ? undefined : end
    if (opening !== undefined) shift = section.earliestPts - opening
    shifts.push(shift)
    for (let cut = firstCut; cut < nextCut; cut++) {
      const own = (cuts.pts[cut] ?? 0) - shift
      const start = cut === firstCut && opening !== undefined ? opening : own
      startTicks[cut] = cut === 0 ? 0 : Math.max(start, (startTicks[cut - 1] ?? 0) + 1)
    }
    const last = startTicks[nextCut - 1] ?? 0
    end = Math.max(end, last + 1, sectionEnd(section) - shift)
  })
  return { startTicks, endTicks: end, shifts }
}

function sectionEnd(section: ScanSection): number {
  const { soundEndPts } = section
  if (section.served.video === undefined) return soundEndPts ?? section.lastDts
  const frame = section.frameTicks === 0 ? LONE_PICTURE_TICKS : section.frameTicks
  const pictureEnd = section.latestPicturePts + frame
  return Math.max(pictureEnd, soundEndPts ?? -Infinity)
}
