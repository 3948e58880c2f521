// Reads the headers before the blocks: the document type, the timestamp scale, and the tracks.
import { createHash } from 'node:crypto'
import { UnplayableError, checkLimit } from '../../../base/errors.ts'
import { parseChildren, parseText, parseUnsigned } from '../elements/ebml.ts'
import { DOC_TYPE, TIMESTAMP_SCALE } from '../elements/element-ids.ts'
import { MAX_TRACK_SETS } from '../matroska-limits.ts'
import type { AudioStreamInfo, ScanMemory, TrackSet } from '../matroska-source.ts'
import { parseTracks } from '../tracks/track-entry.ts'
import { alignSet, chooseTrackSet } from '../tracks/track-set.ts'
import { DEFAULT_SCALE_NS, recordLimitation } from './scan-memory.ts'

const MAX_SCALE_NS = 1_000_000_000
const DOC_TYPES = new Set(['matroska', 'webm'])

type HeaderMemory = Omit<ScanMemory, 'walkState'>

/** What the headers of a scan change. */
export interface HeaderState {
  memory: HeaderMemory
  sets: TrackSet[]
}

/** What the blocks of a served track contain. */
export type Target =
  | { kind: 'video' }
  | { kind: 'audio'; audio: number; stream: AudioStreamInfo }
  | { kind: 'subtitle'; subtitle: number }

/** @throws UnplayableError for an EBML file that is not Matroska */
export function checkDocType(content: Uint8Array): void {
  const docType = [...parseChildren(content)].find(({ id }) => id === DOC_TYPE)
  const name = docType === undefined ? 'matroska' : parseText(docType.content)
  if (DOC_TYPES.has(name)) return
  const shown = name.slice(0, 32).replaceAll(/[^\x20-\x7e]/g, '?')
  throw new UnplayableError({ code: 'ebml-type-unsupported', docType: shown })
}

export function readInfo(memory: HeaderMemory, content: Uint8Array): void {
  const scale = [...parseChildren(content)].find(({ id }) => id === TIMESTAMP_SCALE)
  const declared = scale === undefined ? DEFAULT_SCALE_NS : parseUnsigned(scale.content)
  const nsPerTick = declared > 0 && declared <= MAX_SCALE_NS ? declared : DEFAULT_SCALE_NS
  if (nsPerTick !== memory.nsPerTick) memory.needsSection = true
  memory.nsPerTick = nsPerTick
}

/** Makes the tracks current. Repeated Tracks elements, as in live streams, change nothing. */
export function readTracks({ memory, sets }: HeaderState, content: Uint8Array): void {
  const hash = createHash('sha256').update(content).digest('base64')
  if (hash !== memory.tracksHash) {
    addSet({ memory, sets }, content)
    memory.needsSection = true
  }
  memory.tracksHash = hash
  memory.set = sets.length - 1
}

function addSet({ memory, sets }: HeaderState, content: Uint8Array): void {
  checkLimit('track-changes', MAX_TRACK_SETS, sets.length + 1)
  const chosen = chooseTrackSet(parseTracks(content))
  const { set, refusedVideo, furtherVideoTracks, refusedAudioTracks, refusedSubtitles } = chosen
  const [first] = sets
  for (const cause of refusedAudioTracks) {
    recordLimitation(memory, { code: 'audio-not-served', cause })
  }
  for (const codec of refusedSubtitles) {
    const cause = { code: 'subtitle-codec-unsupported', codec } as const
    recordLimitation(memory, { code: 'subtitles-not-served', cause })
  }
  if (first !== undefined) {
    sets.push(alignSet(first, set))
    return
  }
  if (refusedVideo !== undefined) throw new UnplayableError(refusedVideo)
  if (set.video === undefined && set.audioTracks.length === 0) {
    throw new UnplayableError(refusedAudioTracks[0] ?? { code: 'tracks-missing' })
  }
  if (furtherVideoTracks > 0) {
    const cause = { code: 'track-limit', tracks: furtherVideoTracks } as const
    recordLimitation(memory, { code: 'video-not-served', cause })
  }
  sets.push(set)
}

/** The served tracks by track number. Video has priority over a duplicate number. */
export function listTargets(set: TrackSet | undefined): Map<number, Target> {
  const targets = new Map<number, Target>()
  set?.subtitles.forEach(({ number }, subtitle) => {
    targets.set(number, { kind: 'subtitle', subtitle })
  })
  set?.audioTracks.forEach((stream, audio) => {
    if (stream !== undefined) targets.set(stream.number, { kind: 'audio', audio, stream })
  })
  if (set?.video !== undefined) targets.set(set.video.number, { kind: 'video' })
  return targets
}
