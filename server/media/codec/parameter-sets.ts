// Parameter sets in samples and in decoder configurations (ISO/IEC 14496-15 5.3.3, 8.3.3), and the
// sequence headers of AV1 (AV1 in ISOBMFF 2.3, 2.4): those in force along a recording, and which of
// them a segment needs before its first frame.
import { sequenceHeaders } from './av1.ts'
import { createBitReader } from './bit-reader.ts'
import { nalRole, unescapeNal } from './nal-unit.ts'
import { skipSubLayers } from './video-parameters.ts'

export type ParameterCodec = 'h264' | 'hevc' | 'av1'

/** The parameter sets of avcC, hvcC or av1C, and how many bytes a length in the samples has. */
export interface RecordedSets {
  sets: Uint8Array[]
  lengthBytes: number
}

const MAX_PARAMETER_SETS = 64
const AVC_LENGTH_AT = 4
const AVC_SETS_AT = 5
const HEVC_LENGTH_AT = 21
const HEVC_ARRAYS_AT = 22
const AV1_UNITS_AT = 4
/** Of H.264 and HEVC. */
const PPS_KINDS: ReadonlySet<number> = new Set([8, 34])
/** A longer head of a sample is not searched: parameter sets come first. */
export const SETS_SEARCH_BYTES = 4 * 1024

/** Parses the payload of avcC, hvcC or av1C; what exceeds it is missing. */
export function recordedSets(codec: ParameterCodec, config: Uint8Array): RecordedSets {
  switch (codec) {
    case 'h264':
      return { sets: avcSets(config), lengthBytes: ((config[AVC_LENGTH_AT] ?? 3) & 3) + 1 }
    case 'hevc':
      return { sets: hevcSets(config), lengthBytes: ((config[HEVC_LENGTH_AT] ?? 3) & 3) + 1 }
    case 'av1':
      return { sets: sequenceHeaders(config.subarray(AV1_UNITS_AT)), lengthBytes: 0 }
  }
}

function avcSets(config: Uint8Array): Uint8Array[] {
  const sps = readSets(config, AVC_SETS_AT + 1, (config[AVC_SETS_AT] ?? 0) & 0x1f)
  const pps = readSets(config, sps.end + 1, config[sps.end] ?? 0)
  return [...sps.sets, ...pps.sets]
}

function hevcSets(config: Uint8Array): Uint8Array[] {
  const sets: Uint8Array[] = []
  let at = HEVC_ARRAYS_AT + 1
  const arrays = config[HEVC_ARRAYS_AT] ?? 0
  for (let array = 0; array < arrays && sets.length < MAX_PARAMETER_SETS; array += 1) {
    const count = ((config[at + 1] ?? 0) << 8) | (config[at + 2] ?? 0)
    const read = readSets(config, at + 3, count)
    sets.push(...read.sets)
    at = read.end
  }
  return sets.filter((set) => isSet('hevc', set))
}

function readSets(
  config: Uint8Array,
  from: number,
  count: number,
): { sets: Uint8Array[]; end: number } {
  const sets: Uint8Array[] = []
  let at = from
  for (let set = 0; set < Math.min(count, MAX_PARAMETER_SETS); set += 1) {
    const length = ((config[at] ?? 0) << 8) | (config[at + 1] ?? 0)
    if (length === 0 || at + 2 + length > config.length) break
    sets.push(config.subarray(at + 2, at + 2 + length))
    at += 2 + length
  }
  return { sets, end: at }
}

/** The parameter sets in the first bytes of a sample, up to its first slice or tile. */
export function sampleSets(
  codec: ParameterCodec,
  head: Uint8Array,
  lengthBytes: number,
): Uint8Array[] {
  if (codec === 'av1') return sequenceHeaders(head)
  const sets: Uint8Array[] = []
  let at = 0
  while (at + lengthBytes < head.length && sets.length < MAX_PARAMETER_SETS) {
    const start = at + lengthBytes
    const end = start + Buffer.from(head.buffer, head.byteOffset + at).readUIntBE(0, lengthBytes)
    const role = nalRole(codec, head[start] ?? 0)
    if (end > head.length || role === 'slice' || role === 'key slice') break
    if (end > start && isSet(codec, head.subarray(start)))
      sets.push(Uint8Array.from(head.subarray(start, end)))
    at = end
  }
  return sets
}

function isSet(codec: 'h264' | 'hevc', nal: Uint8Array): boolean {
  const role = nalRole(codec, nal[0] ?? 0)
  return role === 'sps' || role === 'parameters'
}

/** The sets in force after `later` ones: each replaces the one of its kind and id. */
export function replaceSets(
  codec: ParameterCodec,
  sets: readonly Uint8Array[],
  later: readonly Uint8Array[],
): Uint8Array[] {
  if (later.length === 0) return [...sets]
  const byKey = new Map([...sets, ...later].map((set) => [setKey(codec, set), set]))
  return [...byKey.values()].slice(0, MAX_PARAMETER_SETS)
}

/**
 * The sets in force that a decoder which begins at a frame does not have: neither its configuration
 * nor the frame contains them. Ordered as decoders need them. After another SPS, all sets follow:
 * FFmpeg drops the PPS that refer to the one it replaces.
 */
export function missingSets(
  codec: ParameterCodec,
  inForce: readonly Uint8Array[],
  { recorded, own }: { recorded: readonly Uint8Array[]; own: readonly Uint8Array[] },
): Uint8Array[] {
  const ownKeys = new Set(own.map((set) => setKey(codec, set)))
  const isNeeded = (set: Uint8Array) => !ownKeys.has(setKey(codec, set))
  const isNew = (set: Uint8Array) => !recorded.some((each) => Buffer.compare(each, set) === 0)
  const missing = inForce.filter((set) => isNeeded(set) && isNew(set))
  const isPps = (set: Uint8Array) => PPS_KINDS.has(setOrder(codec, set))
  const sent = missing.every(isPps)
    ? missing
    : replaceSets(codec, recorded, inForce).filter(isNeeded)
  return sent.sort((a, b) => setOrder(codec, a) - setOrder(codec, b))
}

/** The sets as the first bytes of a sample. */
export function prefixOf(sets: readonly Uint8Array[], lengthBytes: number): Uint8Array {
  return Buffer.concat(
    sets.flatMap((set) => {
      if (lengthBytes === 0) return [set]
      const length = Buffer.alloc(lengthBytes)
      length.writeUIntBE(set.length, 0, lengthBytes)
      return [length, set]
    }),
  )
}

/** The kind of a set, which orders VPS and SPS before PPS. */
export function setOrder(codec: ParameterCodec, set: Uint8Array): number {
  if (codec === 'av1') return 0
  const head = set[0] ?? 0
  return codec === 'h264' ? head & 0x1f : (head >>> 1) & 0x3f
}

/** Kind and id: a set replaces the earlier one with the same key. */
function setKey(codec: ParameterCodec, set: Uint8Array): string {
  if (codec === 'av1') return 'sequence'
  const kind = setOrder(codec, set)
  return `${kind} ${codec === 'h264' ? avcSetId(kind, set) : hevcSetId(kind, set)}`
}

/** seq_parameter_set_id, pic_parameter_set_id (14496-10 7.3.2.1.1, 7.3.2.2). */
function avcSetId(kind: number, set: Uint8Array): number {
  const SPS = 7
  const EXTENSION = 13
  const headBytes = kind === SPS ? 4 : 1
  if (kind === EXTENSION || set.length <= headBytes) return 0
  return createBitReader(unescapeNal(set).subarray(headBytes)).unsigned()
}

/** 23008-2 7.3.2.1 to 7.3.2.3: the id of a VPS, SPS or PPS. */
function hevcSetId(kind: number, set: Uint8Array): number {
  const VPS = 32
  const SPS = 33
  const reader = createBitReader(unescapeNal(set).subarray(2))
  if (kind === VPS) return reader.bits(4)
  if (kind !== SPS) return reader.unsigned()
  reader.bits(4)
  const subLayers = reader.bits(3)
  reader.bits(1)
  for (let at = 0; at < 12; at += 1) reader.bits(8)
  skipSubLayers(reader, subLayers)
  return reader.unsigned()
}

/** More different combinations than encoders write in days; later ones are not recorded. */
const MAX_COMBINATIONS = 1000

/** Parameter sets that must precede the first frame of a segment. A plain value. */
export interface SegmentSets {
  combinations: Uint8Array[][]
  /** By split point: number of the combination, from 1; 0 or absent for none. */
  ofSplitPoint: Uint16Array
}

/** The sets so far, in decode order. */
export interface SetsScan {
  inForce: Uint8Array[]
  combinations: Uint8Array[][]
  ofSplitPoint: number[]
}

export function createSetsScan(): SetsScan {
  return { inForce: [], combinations: [], ofSplitPoint: [] }
}

/** The scan when the index had its first `count` split points. */
export function resumeSetsScan(
  sets: SegmentSets | undefined,
  { inForce, count }: { inForce: readonly Uint8Array[]; count: number },
): SetsScan {
  return {
    inForce: [...inForce],
    combinations: [...(sets?.combinations ?? [])],
    ofSplitPoint: [...(sets?.ofSplitPoint.subarray(0, count) ?? [])],
  }
}

/** A frame that may have sets. */
export interface FrameSets {
  codec: ParameterCodec
  /** Those of the decoder configuration, and of the frame itself. */
  recorded: readonly Uint8Array[]
  own: readonly Uint8Array[]
}

/** Takes the next frame; `splitPoint` is the number of the split point that begins with it. */
export function takeFrameSets(scan: SetsScan, frame: FrameSets, splitPoint?: number): void {
  if (splitPoint !== undefined) {
    const missing = missingSets(frame.codec, scan.inForce, frame)
    if (missing.length > 0) setCombination(scan, splitPoint, missing)
  }
  scan.inForce = replaceSets(frame.codec, scan.inForce, frame.own)
}

function setCombination(
  { combinations, ofSplitPoint }: SetsScan,
  splitPoint: number,
  sets: Uint8Array[],
): void {
  const known = combinations.findLastIndex((each) => isSame(each, sets))
  if (known < 0 && combinations.length >= MAX_COMBINATIONS) return
  while (ofSplitPoint.length < splitPoint) ofSplitPoint.push(0)
  ofSplitPoint[splitPoint] = known < 0 ? combinations.push(sets) : known + 1
}

function isSame(one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean {
  if (one.length !== other.length) return false
  return one.every((set, at) => Buffer.compare(set, other[at] ?? new Uint8Array(0)) === 0)
}

/** For the index; undefined if no segment needs any. */
export function finishSets({ combinations, ofSplitPoint }: SetsScan): SegmentSets | undefined {
  if (combinations.length === 0) return undefined
  return { combinations, ofSplitPoint: Uint16Array.from(ofSplitPoint) }
}

/** The sets that must precede the first frame at a split point. */
export function setsAt(sets: SegmentSets | undefined, splitPoint: number): readonly Uint8Array[] {
  return sets?.combinations[(sets.ofSplitPoint[splitPoint] ?? 0) - 1] ?? []
}
