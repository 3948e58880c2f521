// Which streams of a program are served, and whether players find the same ones in the recording's own tables.
import { UnplayableError } from '../../../errors.ts'
import { buildPat, buildPmt, parsePat } from '../packets/program-table.ts'
import type { ProgramMap, StreamEntry } from '../packets/program-table.ts'
import type { AudioCodec, AudioConfig } from '../packets/audio-frame.ts'
import { isPlayed } from '../packets/audio-frame.ts'
import {
  ADTS_STREAM_TYPE,
  isUnnamed,
  audioFamily,
  streamKind,
  streamLanguage,
} from '../packets/stream-kind.ts'
import type { AudioFamily } from '../packets/stream-kind.ts'
import { countSectionPackets, uint16 } from '../packets/table-section.ts'

/** Stream types at which hls.js stops reading the table or reports an error. */
const STUMBLING_TYPES: ReadonlySet<number> = new Set([0x84, 0x87, 0xc1, 0xc2, 0xcf, 0xdb])

export interface VideoStream {
  pid: number
  codec: 'h264' | 'hevc'
  streamType: number
}

export interface AudioStream {
  pid: number
  codec: AudioCodec
  /** As the table says it; ADTS_STREAM_TYPE where only the frames said it. */
  streamType: number
  descriptors: Uint8Array
  language?: string
  /** Number among the recording's sounds: the first one plays unasked. */
  audio: number
}

/** At most one video; the sound that times are taken from, and those beside it. At least one stream. */
export interface ServedStreams {
  video?: VideoStream
  audio?: AudioStream
  others?: AudioStream[]
}

/** A program's tables as they stand in the recording. */
export interface Program {
  pat: Uint8Array
  pmt: Uint8Array
  pmtPid: number
  map: ProgramMap
}

/** What the first frames of PIDs are; PIDs whose frames are not looked at, or are none that are known, have none. */
export type KnownAudioTracks = ReadonlyMap<number, AudioConfig>

/** More sounds than this in one program are not served. */
const MAX_AUDIO_TRACKS = 16

/**
 * The first video that browsers play, and all sound that they play or that can be transcoded, first what plays unasked.
 * Throws AppError `unplayable` that names what is there instead.
 */
export function chooseStreams(map: ProgramMap, known: KnownAudioTracks): ServedStreams {
  const video = findVideo(map)
  const audioTracks = chooseAudioTracks(map, known)
  const otherVideo = otherName(map, 'video')
  if (video === undefined && otherVideo !== undefined) {
    throw new UnplayableError({ code: 'video-codec-unsupported', codec: otherVideo })
  }
  if (video === undefined && audioTracks.length === 0) {
    const otherAudio = otherName(map, 'audio')
    if (otherAudio === undefined) throw new UnplayableError({ code: 'tracks-missing' })
    throw new UnplayableError({ code: 'audio-config-invalid', codec: otherAudio })
  }
  return joinStreams(video, audioTracks)
}

function joinStreams(video: VideoStream | undefined, audioTracks: AudioStream[]): ServedStreams {
  const [audio, ...others] = audioTracks
  return {
    ...(video && { video }),
    ...(audio && { audio }),
    ...(others.length > 0 && { others }),
  }
}

/** All sounds of the streams, in the order of the recording's sounds. */
export function servedAudioTracks({ audio, others = [] }: ServedStreams): AudioStream[] {
  return audio === undefined ? [] : [audio, ...others]
}

/**
 * Whether the recording's own packets are sent: what players have in MPEG-TS is H.264 with one sound of AAC or MP3. All
 * else goes through fMP4.
 */
export function formOf(served: ServedStreams): 'verbatim' | 'fmp4' {
  const { video, audio, others = [] } = served
  const hasKnownAudio = audio === undefined || isVerbatimAudio(audio.codec)
  return video?.codec !== 'hevc' && hasKnownAudio && others.length === 0 ? 'verbatim' : 'fmp4'
}

function isVerbatimAudio(codec: AudioCodec): boolean {
  return codec === 'aac' || codec === 'mp3'
}

/** The streams with the same meaning in a program that has changed under way: the form and the sounds stay what they were. */
export function followStreams(
  map: ProgramMap,
  { served, audioTracks: known }: { served: ServedStreams; audioTracks: KnownAudioTracks },
): ServedStreams | undefined {
  const before = servedAudioTracks(served)
  const assumed = before.map(({ codec }) => codec)
  const isVerbatim = formOf(served) === 'verbatim'
  let free = listAudioTracks(map, known, assumed)
  const audioTracks = before.flatMap((audio) => {
    const next = followAudio(audio, free, isVerbatim ? isVerbatimAudio : () => false)
    free = free.filter((stream) => stream !== next)
    return next === undefined ? [] : [{ ...next, audio: audio.audio }]
  })
  const video = findVideo(map)
  return video || audioTracks.length > 0 ? joinStreams(video, audioTracks) : undefined
}

function followAudio(
  { pid, codec, language }: AudioStream,
  streams: AudioStream[],
  isAsGood: (codec: AudioCodec) => boolean,
): AudioStream | undefined {
  const same = streams.filter((stream) => stream.codec === codec)
  return (
    same.find((stream) => stream.pid === pid) ??
    same.find((stream) => stream.language === language) ??
    streams.find((stream) => isAsGood(stream.codec))
  )
}

function findVideo(map: ProgramMap): VideoStream | undefined {
  for (const stream of map.streams) {
    const kind = streamKind(stream)
    if (kind.kind !== 'video' || 'name' in kind) continue
    return { pid: stream.pid, codec: kind.codec, streamType: stream.streamType }
  }
  return undefined
}

/** What the frames show counts; where they show nothing, AAC that is listed may still come. */
function chooseAudioTracks(map: ProgramMap, known: KnownAudioTracks): AudioStream[] {
  const listed = listAudioTracks(map, known, [])
  const seen = listed.filter(({ pid }) => known.has(pid))
  const chosen = seen.length > 0 ? seen : listed.filter(({ codec }) => codec === 'aac').slice(0, 1)
  const first = chosen.find((stream) => isFirst(stream, chosen, known))
  const ordered = first ? [first, ...chosen.filter((stream) => stream !== first)] : chosen
  return ordered.slice(0, MAX_AUDIO_TRACKS).map((stream, audio) => ({ ...stream, audio }))
}

/** The first in the table plays unasked, or one of the same language that need not be transcoded. */
function isFirst(stream: AudioStream, chosen: AudioStream[], known: KnownAudioTracks): boolean {
  const config = known.get(stream.pid)
  return config !== undefined && isPlayed(config) && stream.language === chosen[0]?.language
}

/** All streams that may be sound. A PID whose frames were not seen carries what its type says, or one of those assumed. */
function listAudioTracks(
  map: ProgramMap,
  known: KnownAudioTracks,
  assumed: readonly AudioCodec[],
): AudioStream[] {
  return map.streams.flatMap((stream) => {
    const { pid, descriptors } = stream
    // FFmpeg lists AAC in m2ts as private: tables of our own name it.
    const family = isUnnamed(stream) ? 'aac' : audioFamily(stream)
    const streamType = isUnnamed(stream) ? ADTS_STREAM_TYPE : stream.streamType
    if (family === undefined) return []
    const possible = CODECS_OF[family]
    const isSure = possible.length === 1 && !isUnnamed(stream)
    const codec = known.get(pid)?.codec ?? possible.find((each) => isSure || assumed.includes(each))
    if (codec === undefined) return []
    const language = streamLanguage(stream)
    return [{ pid, codec, streamType, descriptors, ...(language && { language }), audio: 0 }]
  })
}

const CODECS_OF: Record<AudioFamily, AudioCodec[]> = {
  aac: ['aac'],
  latm: ['latm', 'aac_latm'],
  'mpeg-audio': ['mp3', 'mp2'],
  dolby: ['ac3', 'eac3'],
  dts: ['dts'],
  opus: ['opus'],
  lpcm: ['lpcm'],
}

function otherName(map: ProgramMap, wanted: 'video' | 'audio'): string | undefined {
  for (const stream of map.streams) {
    const kind = streamKind(stream)
    if (kind.kind === wanted && 'name' in kind) return kind.name
  }
  return undefined
}

/** Whether both name the same streams, so that a player need not begin anew. */
export function isSameService(a: ServedStreams, b: ServedStreams): boolean {
  return (
    a.video?.pid === b.video?.pid &&
    a.video?.codec === b.video?.codec &&
    audioNames(a) === audioNames(b)
  )
}

function audioNames(served: ServedStreams): string {
  return servedAudioTracks(served)
    .map(({ audio, pid, codec }) => `${audio} ${pid} ${codec}`)
    .join()
}

/**
 * Whether players that know only what HLS names find exactly the served streams in the recording's own tables. hls.js
 * 1.7 takes the first entry of the PAT, reads a PMT that lies in one packet, takes the first video and the first audio
 * in it that the browser plays, and stumbles over E-AC-3.
 */
export function canServeVerbatim(program: Program, served: ServedStreams): boolean {
  if (countSectionPackets(program.pat) > 1 || countSectionPackets(program.pmt) > 1) return false
  const first = parsePat(program.pat)?.[0]
  if (first?.pid !== program.pmtPid || first.programNumber !== program.map.programNumber)
    return false
  const { streams } = program.map
  return (
    !streams.some(({ streamType }) => STUMBLING_TYPES.has(streamType)) &&
    firstPid(streams, 'video') === served.video?.pid &&
    firstPid(streams, 'audio') === served.audio?.pid
  )
}

function firstPid(streams: StreamEntry[], wanted: 'video' | 'audio'): number | undefined {
  return streams.find((stream) => streamKind(stream).kind === wanted)?.pid
}

/** Tables that list the served streams alone, under the recording's own numbers. */
export function buildOwnTables(
  program: Program,
  served: ServedStreams,
): { pat: Uint8Array; pmt: Uint8Array } {
  const { programNumber, pcrPid } = program.map
  const streams = [served.video, served.audio].filter((stream) => stream !== undefined)
  const listed = streams.map(({ streamType, pid }) => ({
    streamType,
    pid,
    descriptors: new Uint8Array(0),
  }))
  return {
    pat: buildPat(uint16(program.pat, 3), { programNumber, pid: program.pmtPid }),
    pmt: buildPmt({ programNumber, pcrPid, streams: listed }),
  }
}
