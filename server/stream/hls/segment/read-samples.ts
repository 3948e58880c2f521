// Reads the samples of a track that a child process decodes.
import { checkLimit } from '../../../base/errors.ts'
import type { UnplayableError } from '../../../base/errors.ts'
import type { MediaIndex, SplitPointRange } from '../../../media/media-index.ts'
import type { MediaReader, SampleRun } from '../../../media/media-reader.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { readWholeBody } from '../../delivery/read-body.ts'
import { segmentBody } from '../../delivery/segment-body.ts'
import { layOutData } from '../fmp4/media-data.ts'

type ByteLimit = Pick<
  Extract<UnplayableError['reason'], { code: 'limit-exceeded' }>,
  'limit' | 'max'
>

/** The samples of one track, by its index in `MediaIndex.tracks`; undefined without any. */
export async function readTrackRun(
  { index, reader }: { index: MediaIndex; reader: MediaReader },
  file: OpenFile,
  { track, range: { from, to } }: { track: number; range: SplitPointRange },
): Promise<SampleRun | undefined> {
  const content = await reader.readSegment(file, index, { from, to, tracks: [track] })
  return content.kind === 'samples' ? content.runs[0] : undefined
}

/**
 * All samples of a run, concatenated.
 *
 * @throws UnplayableError if the samples, which are not in memory yet, have more bytes
 */
export async function readSamples(
  file: OpenFile,
  run: SampleRun,
  { limit, max }: ByteLimit,
): Promise<Uint8Array> {
  if (run.bytes !== undefined) return run.bytes
  const body = segmentBody(layOutData([run], 'track').parts)
  checkLimit(limit, max, body.sizeBytes)
  return readWholeBody(file, body)
}
