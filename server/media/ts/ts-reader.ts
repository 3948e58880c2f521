// The reader of MPEG-TS: segments are recorded packets with the tables in force, or fMP4.
import { AppError } from '../../base/errors.ts'
import { checkRange, hasKeyFrame, sourceOf } from '../media-index.ts'
import type { AudioTrack, KeyFrame, MediaIndex } from '../media-index.ts'
import type { MediaReader } from '../media-reader.ts'
import { readSampleRuns, sampleTracks } from './segment/sample-segment.ts'
import { readTsIndex, withByteLimits } from './scan/ts-index.ts'
import { readSegmentParts } from './segment/ts-segment.ts'
import { describeAudio } from './packets/audio-config.ts'
import { stableSamples } from './scan/growth.ts'
import type { TsSamples, TsSection, TsSource } from './ts-source.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { START_CODE } from '../codec/nal-unit.ts'
import { setsAt } from '../codec/parameter-sets.ts'
import { readPesPayload } from './packets/read-pes.ts'
import { createFrameScan, scanFrame } from './packets/frame-start.ts'
import { findSection } from '../timeline/split-points.ts'

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

/**
 * The same recording with segments of fMP4. Undefined if they are fMP4 already, if a section has
 * video without parameter sets, or if the audio changes its codec.
 */
function sampledIndex(index: MediaIndex, source: TsSource): MediaIndex | undefined {
  if (source.form === 'fmp4') return undefined
  const { sections: listed, resume: _, ...places } = source
  const sections = listed.flatMap((section) => sampledSection(section) ?? [])
  const audio = describeOnlyAudio(sections)
  if (audio === 'several' || !sections.every(hasItsVideo)) return undefined
  const { growth, ...kept } = index
  const frames = index.tracks.filter(({ kind }) => kind === 'video')
  const sampled: TsSource = { ...places, form: 'fmp4', sections }
  const tracks = [...frames, ...(audio === undefined ? [] : [audio])]
  const limited = withByteLimits({ ...kept, tracks, source: sampled }, sampled)
  if (growth === undefined) return limited
  const stableSplitPoints = stableSamples(growth.stableSplitPoints)
  return { ...limited, growth: { ...growth, stableSplitPoints } }
}

type SampledSection = TsSection & { samples: TsSamples }

/** Undefined if only the tables differ from those of the previous section: samples have none. */
function sampledSection({ samples, ...section }: TsSection): SampledSection | undefined {
  if (samples === undefined) return undefined
  const none = new Uint8Array(0)
  return { ...section, tables: 'own', pat: none, pmt: none, samples }
}

function hasItsVideo({ videoPid, samples }: SampledSection): boolean {
  return videoPid === undefined || samples.video !== undefined
}

function describeOnlyAudio(
  sections: readonly SampledSection[],
): AudioTrack | 'several' | undefined {
  const [first, ...others] = sections.flatMap(({ samples }) => samples.audioTracks)
  if (first === undefined) return undefined
  return others.every(({ codec }) => codec === first.codec)
    ? describeAudio(first, undefined)
    : 'several'
}

/** A larger key frame is truncated; 8K at the highest levels is far smaller. */
const MAX_KEY_FRAME_BYTES = 16 * 1024 * 1024

/**
 * The key frame as Annex B after its parameter sets; undefined if the split point has only audio.
 */
async function readTsKeyFrame(
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
