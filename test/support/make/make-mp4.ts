// Builds MP4 files from plain tables, byte by byte, valid or not.

/** A track as its tables describe it. Numbers are written unchanged. */
export interface TrackPlan {
  kind: 'video' | 'audio' | 'text'
  /** 1 if not given. */
  id?: number
  /** Three letters; `und` if not given. */
  language?: string
  /** Title, in the track's user data. */
  name?: string
  /** Ids of tracks with this track's chapter titles. */
  chapterTracks?: number[]
  timescale: number
  /** Duration in mdhd; 0, for unknown, if not given. */
  mediaTicks?: number
  /** Complete sample entry boxes. */
  sampleEntries: Uint8Array[]
  /** (count, ticks). */
  durations: [number, number][]
  /** (count, offset), written in version 1. */
  compositionOffsets?: [number, number][]
  /** Numbers of key frames, from 1. */
  syncs?: ArrayLike<number>
  sizes: ArrayLike<number>
  /** 0 = stsz with a table; 4, 8, 16 = stz2; `constant` = stsz with the first size for all. */
  sizeForm?: 0 | 4 | 8 | 16 | 'constant'
  /** (first chunk, samples per chunk, description). */
  chunkRuns: [number, number, number][]
  chunkOffsets: ArrayLike<number>
  chunkForm?: 'stco' | 'co64'
  /** (movie ticks, media ticks, rate: 1 if not given). */
  edits?: [number, number, number?][]
  isDisabled?: boolean
  width?: number
  height?: number
}

/** Ticks per second of the movies made here. */
export const MOVIE_TIMESCALE = 1000
/** Payload of an `avcC` box: H.264 High, level 3.1. */
export const AVC_C = Buffer.from('0164001fffe100046764001f01000468ee3cb0', 'hex')
/** Configuration of AAC-LC: stereo, 48 kHz. */
export const AAC_LC = Buffer.from('1190', 'hex')
/** Position of the first sample of a `plainTrack`. */
export const PLAIN_MEDIA_AT = 10_000

/** A box. */
export function box(type: string, ...parts: Uint8Array[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 8)
  return Buffer.concat([u32(size), Buffer.from(type, 'latin1'), ...parts])
}

/** A box with version and flags. */
export function fullBox(type: string, version: number, ...parts: Uint8Array[]): Buffer {
  return box(type, u32(version * 2 ** 24), ...parts)
}

/** Big-endian words; negative ones in two's complement. */
export function u32(...values: number[]): Buffer {
  return words(values)
}

/** Big-endian words of a long list. */
export function words(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (let at = 0; at < values.length; at += 1) bytes.writeUInt32BE((values[at] ?? 0) >>> 0, at * 4)
  return bytes
}

/** `ftyp`. */
export function ftyp(): Buffer {
  return box('ftyp', Buffer.from('isom'), u32(0), Buffer.from('isommp42'))
}

/** A `moov` of these tracks. */
export function moov(tracks: TrackPlan[], ...more: Uint8Array[]): Buffer {
  const mvhd = fullBox('mvhd', 0, u32(0, 0, MOVIE_TIMESCALE, 0, 0x1_00_00), Buffer.alloc(76))
  return box('moov', mvhd, ...tracks.map(trak), ...more)
}

/** A track of `count` samples of 10 bytes and 100 ms, one per chunk. */
export function plainTrack(
  kind: TrackPlan['kind'],
  count: number,
  more: Partial<TrackPlan> = {},
): TrackPlan {
  return {
    kind,
    timescale: 1000,
    sampleEntries: [kind === 'video' ? avc1(AVC_C) : mp4a(AAC_LC)],
    durations: [[count, 100]],
    sizes: Array.from({ length: count }, () => 10),
    chunkRuns: [[1, 1, 1]],
    chunkOffsets: Array.from({ length: count }, (_, at) => PLAIN_MEDIA_AT + at * 10),
    ...more,
  }
}

/** A video sample entry `avc1` around an avcC payload. */
export function avc1(avcC: Uint8Array, width = 320, height = 180): Buffer {
  const fields = Buffer.alloc(78)
  fields.writeUInt16BE(1, 6)
  fields.writeUInt16BE(width, 24)
  fields.writeUInt16BE(height, 26)
  return box('avc1', fields, box('avcC', avcC))
}

/** An audio sample entry `mp4a` around an AudioSpecificConfig. */
export function mp4a(config: Uint8Array, objectType = 0x40): Buffer {
  const fields = Buffer.alloc(28)
  fields.writeUInt16BE(1, 6)
  fields.writeUInt16BE(2, 16)
  fields.writeUInt16BE(16, 18)
  fields.writeUInt16BE(48_000, 24)
  return box('mp4a', fields, esds(config, objectType))
}

/** `esds` around an AudioSpecificConfig. */
export function esds(config: Uint8Array, objectType = 0x40): Buffer {
  const specific = Buffer.concat([Buffer.from([5, config.length]), config])
  const decoder = Buffer.concat([Buffer.from([objectType, 0x15]), Buffer.alloc(11), specific])
  const stream = Buffer.concat([Buffer.from([0, 1, 0, 4, decoder.length]), decoder])
  return fullBox('esds', 0, Buffer.from([3, stream.length]), stream)
}

function trak(plan: TrackPlan): Buffer {
  const { kind, timescale, edits, isDisabled, width = 0, height = 0, id = 1 } = plan
  const matrix = [0x1_00_00, 0, 0, 0, 0x1_00_00, 0, 0, 0, 0x40_00_00_00]
  const size = [width * 0x1_00_00, height * 0x1_00_00]
  const tkhd = u32(0, 0, id, 0, 0, 0, 0, 0, 0, ...matrix, ...size)
  const flags = isDisabled === true ? 2 : 3
  const edts = edits && box('edts', elst(edits))
  const handler = Buffer.from({ video: 'vide', audio: 'soun', text: 'sbtl' }[kind])
  const { chapterTracks } = plan
  const tref = chapterTracks === undefined ? [] : [box('tref', box('chap', u32(...chapterTracks)))]
  const name = plan.name === undefined ? [] : [box('udta', box('name', Buffer.from(plan.name)))]
  const mdia = box(
    'mdia',
    fullBox(
      'mdhd',
      0,
      u32(0, 0, timescale, plan.mediaTicks ?? 0, packLanguage(plan.language ?? 'und')),
    ),
    fullBox('hdlr', 0, u32(0), handler, Buffer.alloc(13)),
    box('minf', box('stbl', ...tables(plan))),
  )
  return box('trak', box('tkhd', u32(flags), tkhd), ...(edts ? [edts] : []), ...tref, mdia, ...name)
}

/** Five bits per letter, in the upper half of the word. */
function packLanguage(language: string): number {
  const [first = 0, second = 0, third = 0] = Buffer.from(language).map((code) => code - 0x60)
  return (first * 1024 + second * 32 + third) * 0x1_00_00
}

function elst(edits: [number, number, number?][]): Buffer {
  const entries = edits.map(([ticks, media, rate = 1]) => u32(ticks, media, rate * 0x1_00_00))
  return fullBox('elst', 0, u32(edits.length), ...entries)
}

function tables(plan: TrackPlan): Buffer[] {
  const { durations, compositionOffsets, syncs, chunkRuns, chunkOffsets } = plan
  const runs = (type: string, list: number[][], version = 0) =>
    fullBox(type, version, u32(list.length), words(list.flat()))
  const isLong = plan.chunkForm === 'co64'
  return [
    fullBox('stsd', 0, u32(plan.sampleEntries.length), ...plan.sampleEntries),
    runs('stts', durations),
    ...(compositionOffsets ? [runs('ctts', compositionOffsets, 1)] : []),
    ...(syncs ? [fullBox('stss', 0, u32(syncs.length), words(syncs))] : []),
    runs('stsc', chunkRuns),
    sizeTable(plan),
    isLong
      ? fullBox('co64', 0, u32(chunkOffsets.length), longWords(chunkOffsets))
      : fullBox('stco', 0, u32(chunkOffsets.length), words(chunkOffsets)),
  ]
}

function sizeTable({ sizes, sizeForm = 0 }: TrackPlan): Buffer {
  if (sizeForm === 0) return fullBox('stsz', 0, u32(0, sizes.length), words(sizes))
  if (sizeForm === 'constant') return fullBox('stsz', 0, u32(sizes[0] ?? 0, sizes.length))
  const bytes = Buffer.alloc(Math.ceil((sizes.length * sizeForm) / 8))
  for (let at = 0; at < sizes.length; at += 1) {
    const size = sizes[at] ?? 0
    if (sizeForm === 16) bytes.writeUInt16BE(size, at * 2)
    else if (sizeForm === 8) bytes.writeUInt8(size, at)
    else bytes[at >> 1] = (bytes[at >> 1] ?? 0) | (at % 2 === 0 ? size << 4 : size)
  }
  return fullBox('stz2', 0, u32(sizeForm, sizes.length), bytes)
}

function longWords(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.alloc(values.length * 8)
  for (let at = 0; at < values.length; at += 1) {
    bytes.writeBigUInt64BE(BigInt(values[at] ?? 0), at * 8)
  }
  return bytes
}

/** A copy with its `moov` before its `mdat`, as `-movflags +faststart` makes: of equal size. */
export function moveMoovFirst(file: Buffer): Buffer {
  const boxes: { type: string; bytes: Buffer }[] = []
  for (let at = 0; at < file.length;) {
    const size = file.readUInt32BE(at)
    const bytes = file.subarray(at, at + size)
    boxes.push({ type: bytes.toString('latin1', 4, 8), bytes })
    at += size
  }
  const movie = Buffer.concat(boxes.filter(({ type }) => type === 'moov').map(({ bytes }) => bytes))
  for (let at = movie.indexOf('stco'); at !== -1; at = movie.indexOf('stco', at + 4)) {
    const count = movie.readUInt32BE(at + 8)
    for (let entry = at + 12; entry < at + 12 + 4 * count; entry += 4)
      movie.writeUInt32BE(movie.readUInt32BE(entry) + movie.length, entry)
  }
  const others = boxes.filter(({ type }) => type !== 'moov')
  const first = others.findIndex(({ type }) => type === 'mdat')
  const partsOf = (part: typeof boxes): Buffer[] => part.map(({ bytes }) => bytes)
  return Buffer.concat([...partsOf(others.slice(0, first)), movie, ...partsOf(others.slice(first))])
}
