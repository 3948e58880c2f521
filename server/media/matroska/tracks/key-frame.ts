// Reads the key frame of a split point, for thumbnails and for the codec configuration of VP9 and
// AV1 tracks without one.
import { AppError } from '../../../base/errors.ts'
import { fillExactly } from '../../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { parseAv1Sequence } from '../../codec/av1.ts'
import { parseVp9KeyFrame, vpcC } from '../../codec/vp9.ts'
import { ElementWalk } from '../elements/element-walk.ts'
import { NO_OP_VISITOR, type WalkedBlock } from '../elements/walk-visitor.ts'
import { MAX_BLOCK_BYTES, SEGMENT_WINDOW_BYTES } from '../matroska-limits.ts'
import type { MatroskaSource, Section, VideoStream } from '../matroska-source.ts'
import { walkFile } from '../elements/walk-file.ts'

/** How much of a key frame is read to find its sequence header. */
const MAX_CONFIG_BYTES = 64 * 1024

/** Which key frame to read. */
export interface KeyFrameQuery {
  splitPoint: number
  /** Frames before this position are ignored. */
  notBefore: number
  video: VideoStream
}

/**
 * The first key frame at or after a split point, at most `limitBytes` of it; undefined if there is
 * none before the next one.
 */
export async function readKeyFrameBytes(
  file: OpenFile,
  source: MatroskaSource,
  { splitPoint, notBefore, video, limitBytes }: KeyFrameQuery & { limitBytes: number },
): Promise<Uint8Array | undefined> {
  let found: WalkedBlock | undefined
  const { offsets, clusterTicks, clusterEnds } = source.splitPoints
  const walkState = {
    position: offsets[splitPoint] ?? source.endOffset,
    clusterTicks: clusterTicks[splitPoint] ?? 0,
    clusterEnd: clusterEnds[splitPoint] ?? Infinity,
    corruptFrom: -1,
  }
  const walk = new ElementWalk(
    walkState,
    { end: offsets[splitPoint + 1] ?? source.endOffset },
    {
      ...NO_OP_VISITOR,
      interest: (track) => (track === video.number ? 'frames' : 'none'),
      block(block) {
        if (!block.isKey || block.position < notBefore) return
        found = block
        walk.stop()
      },
    },
  )
  await walkFile(file, walk, { windowBytes: SEGMENT_WINDOW_BYTES })
  return found === undefined ? undefined : readFrame(file, found, { video, limitBytes })
}

async function readFrame(
  file: OpenFile,
  { framesAt, sizes }: WalkedBlock,
  { video, limitBytes }: { video: VideoStream; limitBytes: number },
): Promise<Uint8Array> {
  const [size = 0] = sizes
  if (size > MAX_BLOCK_BYTES) throw new AppError('failed', 'the key frame cannot be read')
  const prefix = video.prefix ?? new Uint8Array()
  const bytes = new Uint8Array(prefix.length + Math.min(size, limitBytes))
  bytes.set(prefix)
  await fillExactly(file, bytes.subarray(prefix.length), framesAt)
  return bytes
}

/**
 * The payload of vpcC or av1C, from the first key frame of a section; undefined if that is
 * impossible.
 */
export async function readVideoConfig(
  file: OpenFile,
  source: MatroskaSource,
  { section, video }: { section: Section; video: VideoStream },
): Promise<Uint8Array | undefined> {
  const notBefore = section.firstFrameAt
  const later = source.splitPoints.offsets.findIndex((offset) => offset > notBefore)
  const splitPoint = Math.max(
    section.firstSplitPoint,
    (later < 0 ? source.splitPoints.offsets.length : later) - 1,
  )
  const query = { splitPoint, notBefore, video, limitBytes: MAX_CONFIG_BYTES }
  const frame = await readKeyFrameBytes(file, source, query)
  if (frame === undefined) return undefined
  if (video.codec === 'av1') return parseAv1Sequence(frame)?.config
  const features = parseVp9KeyFrame(frame)
  const { width, height } = video.described
  const { colour } = video
  return features && vpcC(features, { width, height, ...(colour && { colour }) })
}
