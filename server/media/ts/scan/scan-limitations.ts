// What of a recording is not served as it was meant: noted by the scan, told with its place on the session's timeline.
import { MAX_LIMITATIONS } from '../../media-index.ts'
import type { RecordingLimitation } from '../../media-index.ts'
import type { TsFile } from '../packets/packet-walk.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'
import type { Scan } from './scan.ts'
import type { Flaw } from './scan-state.ts'

/** The flaws of the recording, in the order of the file. `startTicks` are the times of the scan's cuts. */
export function describeFlaws(
  { file, layout }: TsFile,
  { state, end }: Scan,
  startTicks: Float64Array,
): RecordingLimitation[] {
  const rest = file.stat.sizeBytes - end
  const limitations: RecordingLimitation[] = state.flaws.map((flaw) => ({
    ...flaw,
    seconds: secondsAt(flaw, state.splitPoints.offsets, startTicks),
  }))
  const { sections, counts } = state
  const promises = sections.filter(({ served }) => served.audio !== undefined)
  if (promises.length > 0 && promises.every(({ promise }) => promise !== 'kept')) {
    const message = 'the sound that the tables promise does not come'
    limitations.push({ kind: 'sound-left-out', message })
  }
  if (counts.scrambled > 0) {
    limitations.push({ kind: 'damaged', message: 'parts of the recording are encrypted' })
  }
  if (rest >= layout.packetBytes) {
    const message = `${rest} bytes at the end are no packets`
    const seconds = secondsAt({ offsetBytes: end }, state.splitPoints.offsets, startTicks)
    limitations.push({ kind: 'damaged', message, offsetBytes: end, seconds })
  } else if (rest > 0) {
    const message = 'the file ends in the middle of a packet'
    limitations.push({ kind: 'cut-off', message, offsetBytes: end })
  }
  return limitations.slice(-MAX_LIMITATIONS)
}

/** Start of the cut in which the flaw is. */
function secondsAt(
  { offsetBytes }: Pick<Flaw, 'offsetBytes'>,
  offsets: number[],
  startTicks: Float64Array,
): number {
  const splitPoint = offsets.findLastIndex((offset) => offset <= offsetBytes)
  return (startTicks[splitPoint] ?? 0) / PES_TIMESCALE
}
