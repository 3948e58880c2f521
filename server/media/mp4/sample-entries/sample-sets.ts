// Parameter sets in the samples of MP4 (`avc3`, `hev1`; ISO/IEC 14496-15 5.3.3, 8.3.3).
import { readExactly } from '../../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import {
  prefixOf,
  recordedSets,
  sampleSets,
  SETS_SEARCH_BYTES,
} from '../../codec/parameter-sets.ts'
import type { ParameterCodec } from '../../codec/parameter-sets.ts'
import type { Mp4Decoder } from '../mp4-source.ts'

/** Key frames of one recording whose start is read: two days of one a second. */
export const MAX_SEARCHED_FRAMES = 200_000

type SetsDecoder = Mp4Decoder & { codec: ParameterCodec }

/** Whether samples may contain parameter sets that the configuration does not. */
export function hasSetsInBand(decoder: Mp4Decoder | undefined): decoder is SetsDecoder {
  return decoder?.setsInBand === true && decoder.codec !== 'vp9'
}

/** The parameter sets at the start of a sample. */
export async function readSampleSets(
  file: OpenFile,
  decoder: SetsDecoder,
  { offset, sizeBytes }: { offset: number; sizeBytes: number },
): Promise<Uint8Array[]> {
  const head = await readExactly(file, offset, Math.min(sizeBytes, SETS_SEARCH_BYTES))
  return sampleSets(decoder.codec, head, recordedBy(decoder).lengthBytes)
}

/** The parameter sets of the configuration. */
export function recordedBy({ codec, extradata }: SetsDecoder) {
  return recordedSets(codec, extradata ?? new Uint8Array(0))
}

/** The sets as the first bytes of a sample; empty if there are none. */
export function samplePrefix(
  decoder: Mp4Decoder | undefined,
  sets: readonly Uint8Array[],
): Uint8Array {
  if (!hasSetsInBand(decoder) || sets.length === 0) return new Uint8Array(0)
  return prefixOf(sets, recordedBy(decoder).lengthBytes)
}
