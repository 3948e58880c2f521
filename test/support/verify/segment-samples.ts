// Reads segments of samples: the kind, presentation time and bytes of each sample.
import { createHash } from 'node:crypto'
import type { MediaIndex } from '../../../server/media/media-index.ts'
import type {
  MediaReader,
  SegmentContent,
  SegmentRange,
} from '../../../server/media/media-reader.ts'
import type { OpenFile } from '../../../server/storage/recordings/storage.ts'

export interface ServedSample {
  kind: 'video' | 'audio'
  decodeSeconds: number
  presentationSeconds: number
  durationSeconds: number
  isKey: boolean
  /** Hash of the payload, in hex. */
  sha1: string
}

/** An index and its source. */
export interface IndexedFile {
  reader: MediaReader
  file: OpenFile
  index: MediaIndex
}

/** Samples of a segment: video, then audio, each in decode order. */
export async function readSamples(
  { reader, file, index }: IndexedFile,
  range: SegmentRange,
): Promise<ServedSample[]> {
  const content = await reader.readSegment(file, index, range)
  if (content.kind !== 'samples') throw new Error('the segment is not made of samples')
  const samples: ServedSample[] = []
  for (const run of content.runs) {
    let decodeTicks = run.firstDecodeTicks
    for (const [i, size] of run.sizes.entries()) {
      const bytes = new Uint8Array(size)
      const count = await file.read(bytes, run.offsets?.[i] ?? NaN)
      if (count !== size) throw new Error('a sample is outside of the file')
      const duration = run.durations[i] ?? NaN
      samples.push({
        kind: run.kind,
        decodeSeconds: decodeTicks / run.timescale,
        presentationSeconds: (decodeTicks + (run.compositionOffsets?.[i] ?? 0)) / run.timescale,
        durationSeconds: duration / run.timescale,
        isKey: (run.syncs?.[i] ?? 1) === 1,
        sha1: createHash('sha1').update(bytes).digest('hex'),
      })
      decodeTicks += duration
    }
  }
  return samples
}

/** Positions in the file of a segment's samples, or of its MPEG-TS packets. */
export function segmentPlaces(content: SegmentContent): number[] {
  if (content.kind === 'samples') return content.runs.flatMap(({ offsets = [] }) => [...offsets])
  return content.parts.flatMap((part) => {
    if (part.kind === 'bytes') return []
    const packetBytes = part.packing === undefined ? 188 : 192
    const count = Math.ceil(part.length / packetBytes)
    return Array.from({ length: count }, (_, i) => part.offset + i * packetBytes)
  })
}
