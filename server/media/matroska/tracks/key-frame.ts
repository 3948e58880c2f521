// Finds the key frame at a cut, and reads it: for thumbnails, and for the set-up of VP9 and AV1 that have none.
import { AppError } from '../../../errors.ts'
import { fillExactly } from '../../../storage/read-exactly.ts'
import type { OpenFile } from '../../../storage/storage.ts'
import { parseAv1Sequence } from '../../codec/av1.ts'
import { parseVp9KeyFrame, vpcC } from '../../codec/vp9.ts'
import { ElementWalk, IDLE_VISITOR, type WalkedBlock } from '../elements/element-walk.ts'
import { MAX_BLOCK_BYTES, SEGMENT_WINDOW_BYTES } from '../matroska-limits.ts'
import type { MatroskaSource, Section, VideoStream } from '../matroska-source.ts'
import { walkFile } from '../elements/walk-file.ts'

/** What is read of a key frame to find its sequence header. */
const MAX_CONFIG_BYTES = 64 * 1024

/** Where a key frame is looked for. */
export interface KeyFramePlace {
  splitPoint: number
  /** Pictures before this position do not count. */
  notBefore: number
  video: VideoStream
}

/** The first key frame at or behind a cut, at most `limitBytes` of it; undefined where there is none up to the next cut. */
export async function readKeyFrameBytes(
  file: OpenFile,
  source: MatroskaSource,
  { splitPoint, notBefore, video, limitBytes }: KeyFramePlace & { limitBytes: number },
): Promise<Uint8Array | undefined> {
  let found: WalkedBlock | undefined
  const { offsets, clusterTicks, clusterEnds } = source.splitPoints
  const place = {
    position: offsets[splitPoint] ?? source.endOffset,
    clusterTicks: clusterTicks[splitPoint] ?? 0,
    clusterEnd: clusterEnds[splitPoint] ?? Infinity,
    lostFrom: -1,
  }
  const walk = new ElementWalk(
    place,
    { end: offsets[splitPoint + 1] ?? source.endOffset },
    {
      ...IDLE_VISITOR,
      wants: (track) => (track === video.number ? 'frames' : 'nothing'),
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

/** The payload of vpcC or av1C, as the first key frame of a section tells it; undefined where it does not. */
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
  const place = { splitPoint, notBefore, video, limitBytes: MAX_CONFIG_BYTES }
  const frame = await readKeyFrameBytes(file, source, place)
  if (frame === undefined) return undefined
  if (video.codec === 'av1') return parseAv1Sequence(frame)?.config
  const features = parseVp9KeyFrame(frame)
  const { width, height } = video.described
  const { colour } = video
  return features && vpcC(features, { width, height, ...(colour && { colour }) })
}
