// Makes a recording whose only segment is larger than sockets hold, so that a client can stall in
// the middle of it.
import { createTsMaker, H264_STREAM, h264Frame, joinPackets, VIDEO_PID } from './make-ts.ts'

/** About the segment's size; both sides of a connection hold less. */
export const LARGE_SEGMENT_BYTES = 48 * 1024 * 1024

const FRAMES = 10

/** An MPEG-TS recording of five seconds without audio, of about that size. */
export function makeLargeRecording(sizeBytes = LARGE_SEGMENT_BYTES): Uint8Array {
  const maker = createTsMaker()
  const packets = [...maker.pat(), ...maker.pmt([H264_STREAM])]
  const key = h264Frame('key', 1000)
  const plain = h264Frame('plain', sizeBytes / FRAMES)
  for (let at = 0; at < FRAMES; at += 1)
    packets.push(...maker.pes(VIDEO_PID, { pts: 90_000 + at * 45_000 }, at === 0 ? key : plain))
  return joinPackets(packets)
}
