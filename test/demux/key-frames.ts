// Key frames of real recordings, read by FFmpeg, for tests of the decoder.
import { fileURLToPath } from 'node:url'
import type { KeyFrame } from '../../server/media/media-index.ts'
import { demux } from './demux.ts'

/** FFmpeg's numbers of the codecs (AVCodecID). */
const CODECS = new Map<number, KeyFrame['codec']>([
  [27, 'h264'],
  [173, 'hevc'],
  [225, 'av1'],
  [167, 'vp9'],
  [139, 'vp8'],
  [2, 'mpeg2video'],
])

/** The path of a media fixture. */
function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../fixtures/media/${name}`, import.meta.url))
}

/** Every key frame of a fixture's first video track, with rotation 0. */
export async function readKeyFrames(name: string): Promise<KeyFrame[]> {
  const { tracks, packets } = await demux(fixturePath(name))
  const video = tracks.findIndex((track) => track.kind === 'video')
  const { codecId = 0, extradata } = tracks[video] ?? {}
  const codec = CODECS.get(codecId)
  if (codec === undefined) throw new Error(`${name} has no video`)
  const inHeader = extradata !== undefined && extradata[0] === 1
  const isBoxed = codec === 'av1' || inHeader
  return packets
    .filter((packet) => packet.track === video && packet.isKey)
    .flatMap(({ data }) =>
      data === undefined
        ? []
        : [
            {
              codec,
              data,
              rotationDegrees: 0 as const,
              ...(isBoxed && extradata ? { extradata } : {}),
            },
          ],
    )
}
