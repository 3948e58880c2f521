// Reads the key frame at a split point for a decoder.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { START_CODE } from '../../codec/nal-unit.ts'
import { setsAt } from '../../codec/sets-scan.ts'
import type { KeyFrame } from '../../media-index.ts'
import { readPesPayload } from '../packets/read-pes.ts'
import { createFrameScan, scanFrame } from '../packets/frame-start.ts'
import type { TsSource } from '../ts-source.ts'
import { findSection } from '../../timeline/split-points.ts'

/** A larger key frame is truncated; 8K at the highest levels is far smaller. */
const MAX_KEY_FRAME_BYTES = 16 * 1024 * 1024

/**
 * The key frame as Annex B after its parameter sets; undefined if the split point has only audio.
 */
export async function readTsKeyFrame(
  file: OpenFile,
  source: TsSource,
  splitPoint: number,
): Promise<KeyFrame | undefined> {
  const section = findSection(source.sections, splitPoint)
  const from = source.offsets[splitPoint]
  if (from === undefined || section?.videoPid === undefined) return undefined
  const { videoPid, videoCodec, parameterSets } = section
  if (videoCodec === undefined) return undefined
  const tsFile = { file, layout: { packetBytes: source.packetBytes, start: from } }
  const frame = await readPesPayload(tsFile, {
    pid: videoPid,
    from,
    to: source.offsets[splitPoint + 1] ?? source.endOffset,
    limitBytes: MAX_KEY_FRAME_BYTES,
    exceedsLengths: true,
  })
  if (frame === undefined) return undefined
  const scan = createFrameScan(0)
  scanFrame(scan, videoCodec, frame)
  const hasOwn = scan.sps.length > 0 && scan.parameters.length > scan.sps.length
  if (hasOwn) return { codec: videoCodec, data: frame, rotationDegrees: 0 }
  const sets = setsAt(source.sets, splitPoint).flatMap((set) => [START_CODE, set])
  const inForce = sets.length > 0 ? sets : [parameterSets ?? new Uint8Array(0)]
  return { codec: videoCodec, data: Buffer.concat([...inForce, frame]), rotationDegrees: 0 }
}
