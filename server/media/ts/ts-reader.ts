// The reader of MPEG-TS: segments are recorded packets with the tables in force, or fMP4.
import { AppError } from '../../base/errors.ts'
import { checkRange, hasKeyFrame, sourceOf } from '../media-index.ts'
import type { MediaReader } from '../media-reader.ts'
import { readSampleRuns, sampleTracks } from './segment/sample-segment.ts'
import { sampledIndex } from './scan/sampled-index.ts'
import { readTsIndex } from './scan/ts-index.ts'
import { readTsKeyFrame } from './segment/ts-key-frame.ts'
import { readSegmentParts } from './segment/ts-segment.ts'

/**
 * A reader of MPEG-TS in packets of 188, 192 or 204 bytes. H.264 with one audio track of AAC or MP3
 * is sent as recorded; everything else is served as fMP4.
 */
export function createTsReader(): MediaReader {
  return {
    index: readTsIndex,
    readSegment: async (file, index, range) => {
      const source = sourceOf(index, 'ts')
      checkRange(index, range)
      if (file.stat.sizeBytes < source.endOffset) {
        throw new AppError('failed', 'the recording is not the one that was indexed')
      }
      return source.form === 'verbatim'
        ? { kind: 'ts', parts: await readSegmentParts(file, source, range) }
        : { kind: 'samples', runs: await readSampleRuns(file, { index, source }, range) }
    },
    initTracks: (index, splitPoint, tracks) => {
      const source = sourceOf(index, 'ts')
      return source.form === 'verbatim'
        ? undefined
        : sampleTracks(index, source, { splitPoint, tracks })
    },
    asSamples: (index) => sampledIndex(index, sourceOf(index, 'ts')),
    readKeyFrame: async (file, index, splitPoint) => {
      if (!hasKeyFrame(index, splitPoint)) return undefined
      return readTsKeyFrame(file, sourceOf(index, 'ts'), splitPoint)
    },
  }
}
