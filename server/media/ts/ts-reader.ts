// The reader of MPEG-TS: segments are the recording's own packets, behind the tables that are in force.
import { CUT_KEY } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import type { MediaReader } from '../media-reader.ts'
import { readTsIndex } from './ts-index.ts'
import { readTsKeyFrame } from './ts-key-frame.ts'
import { readSegmentParts } from './ts-segment.ts'
import type { TsSource } from './ts-source.ts'

/** A reader of MPEG-TS in 188-byte and 192-byte packets with H.264 or HEVC, and AAC or MP3. */
export function createTsReader(): MediaReader {
  return {
    index: readTsIndex,
    readSegment: async (file, index, range) => ({
      kind: 'ts',
      parts: await readSegmentParts(file, sourceOf(index), range),
    }),
    initTracks: () => undefined,
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
