// Recordings in MPEG-TS whose bytes follow from a list of numbers: one interval of two seconds
// each. A growing recording keeps its numbers.
import {
  AAC_STREAM,
  adtsFrames,
  createTsMaker,
  H264_STREAM,
  h264Frame,
  joinPackets,
  VIDEO_PID,
  AUDIO_PID,
} from '../support/make/make-ts.ts'

const GOP_TICKS = 180_000
/** Of one frame: the number is in its last bytes. */
const FRAME_BYTES = 160

export function makeRecording(numbers: readonly number[]): Buffer {
  const maker = createTsMaker()
  const packets = numbers.flatMap((number, at) => {
    const pts = 90_000 + at * GOP_TICKS
    return [
      ...maker.pat(),
      ...maker.pmt([H264_STREAM, AAC_STREAM]),
      ...maker.pes(VIDEO_PID, { pts }, numbered('key', number)),
      ...maker.pes(AUDIO_PID, { pts }, adtsFrames(1)),
      ...maker.pes(VIDEO_PID, { pts: pts + GOP_TICKS / 2 }, numbered('plain', number)),
    ]
  })
  return Buffer.from(joinPackets(packets))
}

function numbered(kind: 'key' | 'plain', number: number): Uint8Array {
  const frame = h264Frame(kind, FRAME_BYTES)
  // No start code, whatever the number.
  const digits = String(number).padStart(8, '9')
  frame.set(Buffer.from(digits), FRAME_BYTES - digits.length)
  return frame
}
