// The limitations of a recording, with their positions on the timeline of the session.
import type { Limitation } from '../../../base/problem.ts'
import { MAX_LIMITATIONS } from '../../media-index.ts'
import type { TsFile } from '../packets/packet-walk.ts'
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
  const limitations: Limitation[] = flaws.map((flaw) => ({
    ...flaw,
    seconds: secondsAt(flaw.offsetBytes ?? 0, offsets, startTicks),
  }))
  const promises = sections.filter(({ served }) => served.audio !== undefined)
  if (promises.length > 0 && promises.every(({ promise }) => promise !== 'kept')) {
    limitations.push({ code: 'audio-not-served', cause: { code: 'track-empty' } })
  }
  if (counts.scrambled > 0) {
    limitations.push({ code: 'partly-encrypted' })
  }
  if (rest >= layout.packetBytes) {
    const seconds = secondsAt(end, offsets, startTicks)
    limitations.push({ code: 'corrupt', lengthBytes: rest, offsetBytes: end, seconds })
  } else if (rest > 0) {
    limitations.push({ code: 'truncated', unit: 'packet', offsetBytes: end })
  }
  return limitations.slice(-MAX_LIMITATIONS)
}

/** Start of the split point that contains the limitation. */
function secondsAt(offsetBytes: number, offsets: number[], startTicks: Float64Array): number {
  const splitPoint = offsets.findLastIndex((offset) => offset <= offsetBytes)
  return (startTicks[splitPoint] ?? 0) / PES_TIMESCALE
}
