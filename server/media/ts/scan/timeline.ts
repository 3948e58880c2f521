// Arranges the sections of a scan on the timeline of the session, and its limitations on them.
import type { Limitation } from '../../../base/problem.ts'
import { MAX_LIMITATIONS } from '../../media-index.ts'
import { secondsAt } from '../../timeline/split-points.ts'
import { DEFAULT_FRAME_SECONDS } from '../../timeline/timeline-rules.ts'
import type { TsFile } from '../packets/packet-walk.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'
import type { ScanSection, SplitPointList } from './scan-state.ts'
import type { Scan } from './scan.ts'

const LONE_FRAME_TICKS = DEFAULT_FRAME_SECONDS * PES_TIMESCALE

interface Timeline {
  /** Start of each split point, in ticks; the first is 0, each is greater than the one before. */
  startTicks: Float64Array
  endTicks: number
  /** Per section: the time on the recording's clock at which the session is at 0. */
  shifts: number[]
}

/** Times of the split points in the session. Each depends only on the bytes before it. */
export function layTimeline(splitPoints: SplitPointList, sections: ScanSection[]): Timeline {
  const shifts: number[] = []
  const startTicks = new Float64Array(splitPoints.pts.length)
  let shift = 0
  let end = 0
  sections.forEach((section, i) => {
    const { firstSplitPoint, continues } = section
    const nextSplitPoint = sections[i + 1]?.firstSplitPoint ?? splitPoints.pts.length
    const opening = continues ? undefined : end
    if (opening !== undefined) shift = section.earliestPts - opening
    shifts.push(shift)
    for (let splitPoint = firstSplitPoint; splitPoint < nextSplitPoint; splitPoint++) {
      const own = (splitPoints.pts[splitPoint] ?? 0) - shift
      const start = splitPoint === firstSplitPoint && opening !== undefined ? opening : own
      startTicks[splitPoint] =
        splitPoint === 0 ? 0 : Math.max(start, (startTicks[splitPoint - 1] ?? 0) + 1)
    }
    const last = startTicks[nextSplitPoint - 1] ?? 0
    end = Math.max(end, last + 1, sectionEnd(section) - shift)
  })
  return { startTicks, endTicks: end, shifts }
}

function sectionEnd(section: ScanSection): number {
  const { audioEndPts } = section
  if (section.served.video === undefined) return audioEndPts ?? section.lastDts
  const frame = section.frameTicks === 0 ? LONE_FRAME_TICKS : section.frameTicks
  const frameEnd = section.latestFramePts + frame
  return Math.max(frameEnd, audioEndPts ?? -Infinity)
}

/** The limitations in the order of the file. `startTicks` are the times of the split points. */
export function describeFlaws(
  { file, layout }: TsFile,
  { state, end }: Scan,
  startTicks: Float64Array,
): Limitation[] {
  const rest = file.stat.sizeBytes - end
  const { counts } = state
  const { flaws, points, sections } = state.sections
  const { offsets } = points.splitPoints
  const splitPoints = { offsets, startTicks, timescale: PES_TIMESCALE }
  const limitations: Limitation[] = flaws.map((flaw) => ({
    ...flaw,
    seconds: secondsAt(flaw.offsetBytes ?? 0, splitPoints),
  }))
  const promises = sections.filter(({ served }) => served.audio !== undefined)
  if (promises.length > 0 && promises.every(({ promise }) => promise !== 'kept')) {
    limitations.push({ code: 'audio-not-served', cause: { code: 'track-empty' } })
  }
  if (counts.scrambled > 0) {
    limitations.push({ code: 'partly-encrypted' })
  }
  if (rest >= layout.packetBytes) {
    const seconds = secondsAt(end, splitPoints)
    limitations.push({ code: 'corrupt', lengthBytes: rest, offsetBytes: end, seconds })
  } else if (rest > 0) {
    limitations.push({ code: 'truncated', unit: 'packet', offsetBytes: end })
  }
  return limitations.slice(-MAX_LIMITATIONS)
}
