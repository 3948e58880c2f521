// Chooses the served streams of a program, and whether players find them in the recorded tables.
import { UnplayableError } from '../../../base/errors.ts'
import { buildPat, buildPmt, parsePat } from '../packets/program-table.ts'
import type { ProgramMap, StreamEntry } from '../packets/program-table.ts'
import { codecsOf, isPlayed } from '../packets/audio-frame.ts'
import type { StreamCodec, AudioConfig } from '../packets/audio-frame.ts'
import {
  ADTS_STREAM_TYPE,
  isUnnamed,
  listedAudio,
  streamKind,
  streamLanguage,
} from '../packets/stream-kind.ts'
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
  codec: StreamCodec
  /** As in the table; ADTS_STREAM_TYPE if only the frames identify it. */
  streamType: number
  descriptors: Uint8Array
  language?: string
  /** Number of the audio track in the recording: the first one is the default. */
  audio: number
}

/** At most one video; the audio that defines times, and further audio. At least one stream. */
export interface ServedStreams {
  video?: VideoStream
  audio?: AudioStream
  others?: AudioStream[]
}

/** The tables of a program, as recorded. */
export interface Program {
  pat: Uint8Array
  pmt: Uint8Array
  pmtPid: number
  map: ProgramMap
}

/** The configurations in the first frames of PIDs; unread or unknown PIDs are missing. */
export type KnownAudioTracks = ReadonlyMap<number, AudioConfig>

/** Further audio streams of a program are not served. */
const MAX_AUDIO_TRACKS = 16

/**
 * The first video that browsers play, and all audio that they play or that can be transcoded, the
 * default first. Throws UnplayableError with the codecs of the program.
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

/** All audio of the streams, in the order of the recording's tracks. */
export function servedAudioTracks({ audio, others = [] }: ServedStreams): AudioStream[] {
  return audio === undefined ? [] : [audio, ...others]
}

/**
 * Whether the recorded packets are sent. Players support H.264 with one audio track of AAC or MP3
 * in MPEG-TS; everything else is served as fMP4.
 */
export function formOf(served: ServedStreams): 'verbatim' | 'fmp4' {
  const { video, audio, others = [] } = served
  const hasKnownAudio = audio === undefined || isVerbatimAudio(audio.codec)
  return video?.codec !== 'hevc' && hasKnownAudio && others.length === 0 ? 'verbatim' : 'fmp4'
}

function isVerbatimAudio(codec: StreamCodec): boolean {
  return codec === 'aac' || codec === 'mp3'
}

/** The matching streams after a change of the program: the form and the audio tracks stay. */
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
  isAsGood: (codec: StreamCodec) => boolean,
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

/** The frames decide; without frames, listed AAC may still come. */
function chooseAudioTracks(map: ProgramMap, known: KnownAudioTracks): AudioStream[] {
  const listed = listAudioTracks(map, known, [])
  const seen = listed.filter(({ pid }) => known.has(pid))
  const chosen = seen.length > 0 ? seen : listed.filter(({ codec }) => codec === 'aac').slice(0, 1)
  const first = chosen.find((stream) => isFirst(stream, chosen, known))
  const ordered = first ? [first, ...chosen.filter((stream) => stream !== first)] : chosen
  return ordered.slice(0, MAX_AUDIO_TRACKS).map((stream, audio) => ({ ...stream, audio }))
}

/** The first in the table is the default, or one of the same language that is not transcoded. */
function isFirst(stream: AudioStream, chosen: AudioStream[], known: KnownAudioTracks): boolean {
  const config = known.get(stream.pid)
  return config !== undefined && isPlayed(config) && stream.language === chosen[0]?.language
}

/**
 * All streams that may be audio. A PID without known frames has the codec of its type, or an
 * assumed one.
 */
function listAudioTracks(
  map: ProgramMap,
  known: KnownAudioTracks,
  assumed: readonly StreamCodec[],
): AudioStream[] {
  return map.streams.flatMap((stream) => {
    const { pid, descriptors } = stream
    // FFmpeg lists AAC in m2ts as private; generated tables identify it.
    const listed = isUnnamed(stream) ? 'aac' : listedAudio(stream)
    const streamType = isUnnamed(stream) ? ADTS_STREAM_TYPE : stream.streamType
    if (listed === undefined) return []
    const possible = codecsOf(listed)
    const isSure = possible.length === 1 && !isUnnamed(stream)
    const codec = known.get(pid)?.codec ?? possible.find((each) => isSure || assumed.includes(each))
    if (codec === undefined) return []
    const language = streamLanguage(stream)
    return [{ pid, codec, streamType, descriptors, ...(language && { language }), audio: 0 }]
  })
}

function otherName(map: ProgramMap, wanted: 'video' | 'audio'): string | undefined {
  for (const stream of map.streams) {
    const kind = streamKind(stream)
    if (kind.kind === wanted && 'name' in kind) return kind.name
  }
  return undefined
}

/** Whether both have the same streams, so that players need not restart. */
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
 * Whether players find exactly the served streams in the recorded tables. A segment must have a
 * single program (RFC 8216 3.2). hls.js 1.7 takes the first entry of the PAT, reads a PMT of one
 * packet, takes the first video and the first audio that the browser plays, and fails at E-AC-3.
 */
export function canServeVerbatim(program: Program, served: ServedStreams): boolean {
  if (countSectionPackets(program.pat) > 1 || countSectionPackets(program.pmt) > 1) return false
  const [first, ...others] = parsePat(program.pat) ?? []
  if (first?.pid !== program.pmtPid || first.programNumber !== program.map.programNumber)
    return false
  if (others.some(({ programNumber }) => programNumber !== 0)) return false
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

/** Tables that list only the served streams, with the recorded numbers. */
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
