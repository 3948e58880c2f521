// Parses the Tracks element (RFC 9559 5.1.4), with defaults for absent elements.
import { parseChildren, parseFloat64, parseText, parseUnsigned } from '../elements/ebml.ts'
import { AUDIO, COLOUR, ENCODING, TRACK, VIDEO } from '../elements/element-ids.ts'
import {
  MAX_NAME_CHARACTERS,
  MAX_PRIVATE_BYTES,
  MAX_STRIPPED_BYTES,
  MAX_TRACKS,
} from '../matroska-limits.ts'

/** One track as described in the file. */
export interface TrackEntry {
  number: number
  kind: 'video' | 'audio' | 'subtitle' | 'other'
  isEnabled: boolean
  isDefault: boolean
  codec: string
  codecPrivate: Uint8Array
  /** 0 if not declared. */
  defaultDurationNs: number
  codecDelayNs: number
  language?: string
  name?: string
  encoding: TrackEncoding
  video: VideoFields
  audio: AudioFields
}

/**
 * How frames are encoded. `stripped`: without their common `prefix`; other encodings are not
 * supported.
 */
export type TrackEncoding =
  | { kind: 'none' }
  | { kind: 'stripped'; prefix: Uint8Array }
  | { kind: 'zlib' }
  | { kind: 'compressed' }
  | { kind: 'encrypted' }

export interface VideoFields {
  width: number
  height: number
  /** 0 if not declared. */
  displayWidth: number
  displayHeight: number
  displayUnit: number
  colour: ColourFields | undefined
}

/** Undefined if not declared; numbers as in ISO/IEC 23091-2. */
export interface ColourFields {
  matrix?: number
  bits?: number
  subsamplingAcross?: number
  subsamplingDown?: number
  range?: number
  transfer?: number
  primaries?: number
}

export interface AudioFields {
  sampleRate: number
  /** 0 if not declared. */
  outputRate: number
  channels: number
  bits: number
}

/** Default track type (RFC 9559 5.1.4.1.19). */
const ENGLISH = 'eng'
const UNDETERMINED = 'und'

const KINDS = new Map<number, TrackEntry['kind']>([
  [1, 'video'],
  [2, 'audio'],
  [17, 'subtitle'],
])

/** The tracks of a Tracks element, in order. */
export function parseTracks(content: Uint8Array): TrackEntry[] {
  const entries: TrackEntry[] = []
  for (const { id, content: entry } of parseChildren(content)) {
    if (id === TRACK.entry && entries.length < MAX_TRACKS) entries.push(parseEntry(entry))
  }
  return entries
}

function parseEntry(content: Uint8Array): TrackEntry {
  const fields = fieldsOf(content)
  const language = text(fields, TRACK.languageBcp47) ?? text(fields, TRACK.language) ?? ENGLISH
  const name = text(fields, TRACK.name)
  const codecPrivate = fields.get(TRACK.codecPrivate) ?? new Uint8Array()
  return {
    number: unsigned(fields, TRACK.number, 0),
    kind: KINDS.get(unsigned(fields, TRACK.type, 0)) ?? 'other',
    isEnabled: unsigned(fields, TRACK.isEnabled, 1) !== 0,
    isDefault: unsigned(fields, TRACK.isDefault, 1) !== 0,
    codec: text(fields, TRACK.codec) ?? '',
    codecPrivate:
      codecPrivate.length <= MAX_PRIVATE_BYTES ? codecPrivate.slice() : new Uint8Array(),
    defaultDurationNs: unsigned(fields, TRACK.defaultDuration, 0),
    codecDelayNs: unsigned(fields, TRACK.codecDelay, 0),
    ...(language !== UNDETERMINED && { language }),
    ...(name !== undefined && { name }),
    encoding: parseEncodings(fields.get(TRACK.encodings)),
    video: parseVideo(fieldsOf(fields.get(TRACK.video))),
    audio: parseAudio(fieldsOf(fields.get(TRACK.audio))),
  }
}

type Fields = ReadonlyMap<number, Uint8Array>

/** The children by ID; the first of several. */
function fieldsOf(content: Uint8Array | undefined): Fields {
  const fields = new Map<number, Uint8Array>()
  for (const child of content === undefined ? [] : parseChildren(content)) {
    if (!fields.has(child.id)) fields.set(child.id, child.content)
  }
  return fields
}

function unsigned<Missing extends number | undefined>(
  fields: Fields,
  id: number,
  missing: Missing,
): number | Missing {
  const content = fields.get(id)
  return content === undefined ? missing : parseUnsigned(content)
}

function text(fields: Fields, id: number): string | undefined {
  const content = fields.get(id)
  const value = content && parseText(content.subarray(0, 4 * MAX_NAME_CHARACTERS)).trim()
  return value === undefined || value === '' ? undefined : value.slice(0, MAX_NAME_CHARACTERS)
}

function parseVideo(fields: Fields): VideoFields {
  const colour = fields.get(VIDEO.colour)
  return {
    width: unsigned(fields, VIDEO.width, 0),
    height: unsigned(fields, VIDEO.height, 0),
    displayWidth: unsigned(fields, VIDEO.displayWidth, 0),
    displayHeight: unsigned(fields, VIDEO.displayHeight, 0),
    displayUnit: unsigned(fields, VIDEO.displayUnit, 0),
    colour: colour && parseColour(fieldsOf(colour)),
  }
}

function parseColour(fields: Fields): ColourFields {
  const entries = Object.entries(COLOUR).flatMap(([name, id]) => {
    const value = unsigned(fields, id, undefined)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

/** Defaults of RFC 9559 5.1.4.1.29. */
function parseAudio(fields: Fields): AudioFields {
  const rate = fields.get(AUDIO.rate)
  const outputRate = fields.get(AUDIO.outputRate)
  return {
    sampleRate: Math.round(rate === undefined ? 8000 : parseFloat64(rate)),
    outputRate: outputRate === undefined ? 0 : Math.round(parseFloat64(outputRate)),
    channels: unsigned(fields, AUDIO.channels, 1),
    bits: unsigned(fields, AUDIO.bits, 0),
  }
}

const FRAMES_SCOPE = 1
const ZLIB = 0
const HEADER_STRIPPING = 3

/** RFC 9559 5.1.4.1.31. Nested encodings are not in use. */
function parseEncodings(content: Uint8Array | undefined): TrackEncoding {
  const encodings = content === undefined ? [] : [...parseChildren(content)]
  const applied = encodings
    .filter(({ id }) => id === ENCODING.entry)
    .map((encoding) => fieldsOf(encoding.content))
    .filter((fields) => (unsigned(fields, ENCODING.scope, FRAMES_SCOPE) & FRAMES_SCOPE) !== 0)
  const [first, ...others] = applied
  if (first === undefined) return { kind: 'none' }
  if (applied.some((fields) => unsigned(fields, ENCODING.type, 0) !== 0)) {
    return { kind: 'encrypted' }
  }
  const compression = fieldsOf(first.get(ENCODING.compression))
  const algorithm = unsigned(compression, ENCODING.algorithm, ZLIB)
  if (others.length > 0) return { kind: 'compressed' }
  if (algorithm === ZLIB) return { kind: 'zlib' }
  const prefix = compression.get(ENCODING.settings) ?? new Uint8Array()
  if (algorithm !== HEADER_STRIPPING || prefix.length > MAX_STRIPPED_BYTES) {
    return { kind: 'compressed' }
  }
  return prefix.length === 0 ? { kind: 'none' } : { kind: 'stripped', prefix: prefix.slice() }
}
