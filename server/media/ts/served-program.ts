// Which streams of a program are served, and whether players find the same ones in the recording's own tables.
import { AppError } from '../../errors.ts'
import { buildPat, buildPmt, parsePat } from './program-table.ts'
import type { ProgramMap, StreamEntry } from './program-table.ts'
import { ADTS_STREAM_TYPE, isMpegAudio, isUnnamed, streamKind } from './stream-kind.ts'
import { countSectionPackets, uint16 } from './table-section.ts'

/** Stream types at which hls.js stops reading the table or reports an error. */
const STUMBLING_TYPES: ReadonlySet<number> = new Set([0x84, 0x87, 0xc1, 0xc2, 0xcf, 0xdb])

export interface VideoStream {
  pid: number
  codec: 'h264' | 'hevc'
  streamType: number
}

export interface AudioStream {
  pid: number
  codec: 'aac' | 'mp3'
  streamType: number
}

/** At most one stream of each; at least one. */
export interface ServedStreams {
  video?: VideoStream
  audio?: AudioStream
}

/** A program's tables as they stand in the recording. */
export interface Program {
  pat: Uint8Array
  pmt: Uint8Array
  pmtPid: number
  map: ProgramMap
}

/**
 * What the first frames of a PID are, where its stream type leaves that open: MP3 or one of its elders (which browsers
 * do not play in HLS), private or AAC (FFmpeg lists AAC in m2ts as private).
 */
export type FrameTest = (pid: number) => 'aac' | 'mp3' | undefined

/** The first video and the first audio that browsers play. Throws AppError `unplayable` that names what is there instead. */
export function chooseStreams(map: ProgramMap, framesOf: FrameTest): ServedStreams {
  const video = findVideo(map)
  const audio = findAudio(map, framesOf)
  const otherVideo = otherName(map, 'video')
  if (video === undefined && otherVideo !== undefined) {
    throw new AppError('unplayable', `the video is ${otherVideo}, which no browser plays`)
  }
  if (video === undefined && audio === undefined) {
    const otherAudio = otherName(map, 'audio')
    if (otherAudio === undefined) throw new AppError('unplayable', 'the file has no video or sound')
    throw new AppError('unplayable', `the sound is ${otherAudio}, which no browser plays`)
  }
  return { ...(video && { video }), ...(audio && { audio }) }
}

function findVideo(map: ProgramMap): VideoStream | undefined {
  for (const stream of map.streams) {
    const kind = streamKind(stream)
    if (kind.kind !== 'video' || kind.codec === 'other') continue
    return { pid: stream.pid, codec: kind.codec, streamType: stream.streamType }
  }
  return undefined
}

function findAudio(map: ProgramMap, framesOf: FrameTest): AudioStream | undefined {
  for (const stream of map.streams) {
    const { pid, streamType } = stream
    const kind = streamKind(stream)
    if (kind.kind === 'audio' && kind.codec === 'aac') return { pid, codec: 'aac', streamType }
    const frames = framesOf(pid)
    if (isMpegAudio(stream) && frames === 'mp3') return { pid, codec: 'mp3', streamType }
    if (isUnnamed(stream) && frames === 'aac') {
      return { pid, codec: 'aac', streamType: ADTS_STREAM_TYPE }
    }
  }
  return undefined
}

function otherName(map: ProgramMap, wanted: 'video' | 'audio'): string | undefined {
  for (const stream of map.streams) {
    const kind = streamKind(stream)
    if (kind.kind !== wanted) continue
    if (kind.codec === 'other') return kind.name
    if (kind.codec === 'mpeg-audio') return 'MPEG audio older than MP3'
  }
  return undefined
}

/** Whether both name the same streams, so that a player need not begin anew. */
export function isSameService(a: ServedStreams, b: ServedStreams): boolean {
  return (
    a.video?.pid === b.video?.pid &&
    a.video?.codec === b.video?.codec &&
    a.audio?.pid === b.audio?.pid &&
    a.audio?.codec === b.audio?.codec
  )
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
