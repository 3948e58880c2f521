// The limitations of a recording, with their positions on the timeline of the session.
import type { Limitation } from '../../../base/problem.ts'
import { MAX_LIMITATIONS } from '../../media-index.ts'
import type { TsFile } from '../packets/packet-walk.ts'
import { secondsAt } from '../../timeline/split-points.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'
import type { Scan } from './scan.ts'

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
