// The reader of MPEG-TS: segments are the recording's own packets behind the tables in force, or fMP4 of the samples in them.
import { CUT_KEY } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import type { MediaReader } from '../media-reader.ts'
import { readSampleRuns, sampleTracks } from './sample-segment.ts'
import { sampledIndex } from './sampled-index.ts'
import { readTsIndex } from './ts-index.ts'
import { readTsKeyFrame } from './ts-key-frame.ts'
import { readSegmentParts } from './ts-segment.ts'
import type { TsSource } from './ts-source.ts'

/**
 * A reader of MPEG-TS in 188-byte and 192-byte packets. H.264 with one sound of AAC or MP3 is sent as it was recorded;
 * HEVC, further sounds and sound of other codecs go through fMP4.
 */
export function createTsReader(): MediaReader {
  return {
    index: readTsIndex,
    readSegment: async (file, index, range) => {
      const source = sourceOf(index)
      return source.form === 'verbatim'
        ? { kind: 'ts', parts: await readSegmentParts(file, source, range) }
        : { kind: 'samples', runs: await readSampleRuns(file, { index, source }, range) }
    },
    initTracks: (index, cut, tracks) => {
      const source = sourceOf(index)
      return source.form === 'verbatim' ? undefined : sampleTracks(index, source, { cut, tracks })
    },
    asSamples: (index) => sampledIndex(index, sourceOf(index)),
    readKeyFrame: async (file, index, cut) => {
      const isKey = ((index.cuts.flags[cut] ?? 0) & CUT_KEY) !== 0
      return isKey ? readTsKeyFrame(file, sourceOf(index), cut) : undefined
    },
  }
}

function sourceOf(index: MediaIndex): TsSource {
  if (index.source.container !== 'ts') throw new TypeError('the index is not one of MPEG-TS')
  return index.source
}
