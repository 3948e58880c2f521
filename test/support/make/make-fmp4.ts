// Writes fragmented MP4 files from given samples, in any form that fragments may have.
import {
  type TrackPlan,
  AAC_LC,
  AVC_C,
  avc1,
  box,
  fullBox,
  ftyp,
  moov,
  mp4a,
  u32,
} from './make-mp4.ts'

/** A track as the movie box announces it. */
export interface FragmentTrackPlan extends Pick<
  TrackPlan,
  'kind' | 'timescale' | 'sampleEntries' | 'edits' | 'language' | 'width' | 'height'
> {
  id: number
  /** Values of trex; all 0, and sample entry 1, by default. */
  defaults?: { description?: number; duration?: number; size?: number; flags?: number }
}

/** Video without samples. */
export const H264_TRACK: FragmentTrackPlan = {
  kind: 'video',
  id: 1,
  timescale: 90_000,
  sampleEntries: [avc1(AVC_C)],
}
/** Audio without samples. */
export const AAC_TRACK: FragmentTrackPlan = {
  kind: 'audio',
  id: 2,
  timescale: 48_000,
  sampleEntries: [mp4a(AAC_LC)],
}

/** One sample; times in ticks of its track. */
export interface FragmentSample {
  data: Uint8Array
  duration: number
  /** Composition offset; 0 if not given. */
  offset?: number
  isKey?: boolean
}

/** The samples of one track in a fragment. */
export interface TrafPlan {
  trackId: number
  samples: FragmentSample[]
  /** Written as tfdt, in version 1 above 2^32; no tfdt if not given. */
  decodeTicks?: number
  /** Number of truns; 1 if not given. */
  truns?: number
  /** Sample entry, from 1; left to trex if not given. */
  description?: number
  /**
   * `each`: every sample has duration, size and flags. `defaults`: tfhd contains what the first two
   * samples agree on, flags included, and a trun's first sample its own flags. `trex`: nothing is
   * of durations and flags.
   */
  fields?: 'each' | 'defaults' | 'trex'
}

/** The base of sample offsets, and the sample's positions. */
export interface FragmentForm {
  /**
   * `moof`: default-base-is-moof. `file`: base-data-offset. `implicit`: neither flag, later trafs
   * follow the one before.
   */
  base?: 'moof' | 'file' | 'implicit'
  /** Position of the moof in the file, for `file`. */
  position?: number
  /** Size in the mdat's header: as it is, in 64 bits, or 0 for the rest of the file. */
  mdatSize?: 'plain' | 'long' | 'rest'
}

const KEY_FLAGS = 0x02_00_00_00
const OTHER_FLAGS = 0x01_01_00_00

/** `ftyp` and a movie box without samples. */
export function initSegment(tracks: FragmentTrackPlan[], ...more: Uint8Array[]): Buffer {
  return Buffer.concat([ftyp(), fragmentMovie(tracks, ...more)])
}

/** A movie box without samples that announces fragments. */
export function fragmentMovie(tracks: FragmentTrackPlan[], ...more: Uint8Array[]): Buffer {
  const plans = tracks.map((track): TrackPlan => {
    return { ...track, durations: [], sizes: [], chunkRuns: [], chunkOffsets: [] }
  })
  return moov(plans, trackExtends(tracks), ...more)
}

/** `mvex` with a `trex` for each track. */
export function trackExtends(tracks: Pick<FragmentTrackPlan, 'id' | 'defaults'>[]): Buffer {
  const trex = tracks.map(({ id, defaults = {} }) => {
    const { description = 1, duration = 0, size = 0, flags = 0 } = defaults
    return fullBox('trex', 0, u32(id, description, duration, size, flags))
  })
  return box('mvex', ...trex)
}

/** `moof` and `mdat`. Samples are in the order of the trafs. */
export function fragment(trafs: TrafPlan[], form: FragmentForm = {}): Buffer {
  const { mdatSize = 'plain' } = form
  const data = Buffer.concat(trafs.flatMap(({ samples }) => samples.map((sample) => sample.data)))
  const headerBytes = mdatSize === 'long' ? 16 : 8
  const moofBytes = moofOf(trafs, form, 0).length
  const moof = moofOf(trafs, form, moofBytes + headerBytes)
  const type = Buffer.from('mdat')
  const size = data.length + headerBytes
  if (mdatSize === 'rest') return Buffer.concat([moof, u32(0), type, data])
  if (mdatSize === 'long') return Buffer.concat([moof, u32(1), type, u32(0, size), data])
  return Buffer.concat([moof, u32(size), type, data])
}

/**
 * Samples of equal duration and unique bytes: `sizeBytes` each, a key frame every
 * `keyEvery`.
 */
export function plainSamples(
  count: number,
  {
    duration,
    keyEvery,
    seed,
    sizeBytes = 40,
  }: { duration: number; keyEvery: number; seed: string; sizeBytes?: number },
): FragmentSample[] {
  return Array.from({ length: count }, (_, at) => {
    const data = Buffer.alloc(sizeBytes)
    data.write(`${seed}:${at};`)
    return { data, duration, isKey: at % keyEvery === 0 }
  })
}

/** How long samples last together, in ticks. */
export function ticksOf(samples: readonly FragmentSample[]): number {
  return samples.reduce((sum, { duration }) => sum + duration, 0)
}

function moofOf(trafs: TrafPlan[], form: FragmentForm, dataAt: number): Buffer {
  let at = dataAt
  const boxes = trafs.map((traf, i) => {
    const made = trafOf(traf, form, { dataAt: at, isFirst: i === 0 })
    at += traf.samples.reduce((sum, { data }) => sum + data.length, 0)
    return made
  })
  return box('moof', fullBox('mfhd', 0, u32(1)), ...boxes)
}

function trafOf(
  traf: TrafPlan,
  { base = 'moof', position = 0 }: FragmentForm,
  { dataAt, isFirst }: { dataAt: number; isFirst: boolean },
): Buffer {
  const { trackId, samples, decodeTicks, truns = 1, description, fields = 'each' } = traf
  const [first, second = first] = samples
  const hasDefaults = fields === 'defaults'
  const flags =
    (base === 'file' ? 0x1 : 0) |
    (description === undefined ? 0 : 0x2) |
    (hasDefaults ? 0x8 | 0x20 : 0) |
    (base === 'moof' ? 0x2_00_00 : 0)
  const tfhd = box(
    'tfhd',
    u32(flags, trackId),
    base === 'file' ? u32(0, position) : u32(),
    description === undefined ? u32() : u32(description),
    hasDefaults
      ? u32(second?.duration ?? 0, second?.isKey === true ? KEY_FLAGS : OTHER_FLAGS)
      : u32(),
  )
  const tfdt =
    decodeTicks === undefined
      ? []
      : [fullBox('tfdt', 1, u32(Math.floor(decodeTicks / 2 ** 32), decodeTicks % 2 ** 32))]
  const each = Math.ceil(samples.length / truns)
  const runs: Buffer[] = []
  let at = dataAt
  for (let from = 0; from < samples.length; from += each) {
    const part = samples.slice(from, from + each)
    const saysWhere = base !== 'implicit' || (isFirst && from === 0)
    runs.push(trunOf(part, fields, saysWhere ? at : undefined))
    at += part.reduce((sum, { data }) => sum + data.length, 0)
  }
  return box('traf', tfhd, ...tfdt, ...runs)
}

function trunOf(
  samples: FragmentSample[],
  fields: Exclude<TrafPlan['fields'], undefined>,
  dataOffset: number | undefined,
): Buffer {
  const saysAll = fields === 'each'
  const saysFirst = fields === 'defaults'
  const hasOffsets = samples.some(({ offset = 0 }) => offset !== 0)
  const flags =
    (dataOffset === undefined ? 0 : 0x1) |
    (saysFirst ? 0x4 : 0) |
    (saysAll ? 0x100 | 0x400 : 0) |
    0x200 |
    (hasOffsets ? 0x800 : 0)
  const flagsOf = (sample: FragmentSample | undefined) =>
    sample?.isKey === true ? KEY_FLAGS : OTHER_FLAGS
  const entries = samples.map((sample) =>
    u32(
      ...(saysAll ? [sample.duration] : []),
      sample.data.length,
      ...(saysAll ? [flagsOf(sample)] : []),
      ...(hasOffsets ? [sample.offset ?? 0] : []),
    ),
  )
  return box(
    'trun',
    u32(0x01_00_00_00 | flags, samples.length),
    dataOffset === undefined ? u32() : u32(dataOffset),
    saysFirst ? u32(flagsOf(samples[0])) : u32(),
    ...entries,
  )
}
