// Reads the key frame at a cut, ready for a decoder.
import type { OpenFile } from '../../storage/storage.ts'
import type { KeyFrame } from '../media-index.ts'
import { readPesPayload } from './pes-read.ts'
import { createPictureScan, scanPicture } from './picture-start.ts'
import type { TsSection, TsSource } from './ts-source.ts'

/** A key frame larger than this is cut short; 8K at the highest levels stays far below. */
const MAX_KEY_FRAME_BYTES = 16 * 1024 * 1024

/** The key frame as Annex B with its parameter sets in front; undefined where the cut is sound alone. */
export async function readTsKeyFrame(
  file: OpenFile,
  source: TsSource,
  cut: number,
): Promise<KeyFrame | undefined> {
  const section = sectionOf(source, cut)
  const from = source.offsets[cut]
  if (from === undefined || section?.videoPid === undefined) return undefined
  const { videoPid, videoCodec, parameterSets } = section
  if (videoCodec === undefined) return undefined
  const tsFile = { file, layout: { packetBytes: source.packetBytes, start: from } }
  const picture = await readPesPayload(tsFile, {
    pid: videoPid,
    from,
    to: source.offsets[cut + 1] ?? source.endOffset,
    limitBytes: MAX_KEY_FRAME_BYTES,
  })
  if (picture === undefined) return undefined
  const scan = createPictureScan(0)
  scanPicture(scan, videoCodec, picture)
  const hasOwn = scan.sps.length > 0 && scan.parameters.length > scan.sps.length
  const data = hasOwn || parameterSets === undefined ? picture : concat(parameterSets, picture)
  return { codec: videoCodec, data, rotationDegrees: 0 }
}

function sectionOf({ sections }: TsSource, cut: number): TsSection | undefined {
  return sections.findLast(({ firstCut }) => firstCut <= cut)
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}
