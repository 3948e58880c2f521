// Writes MPEG-TS recordings of many hours in which every frame of video and of audio differs
// from all others.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import {
  AAC_STREAM,
  adtsFrames,
  AUDIO_PID,
  createTsMaker,
  H264_STREAM,
  h264Frame,
  joinPackets,
  VIDEO_PID,
} from './make-ts.ts'
import type { TsMaker } from './make-ts.ts'

/** Ticks of 90 kHz of a frame: five a second keep ten hours small. */
export const VIDEO_FRAME_TICKS = 18_000
/** Frames from key frame to key frame. */
export const GOP_FRAMES = 10
export const TICKS_PER_SECOND = 90_000
/** Timestamps wrap an hour after the start. */
export const FIRST_PTS = 2 ** 33 - 3600 * TICKS_PER_SECOND

const VIDEO_FRAME_BYTES = 90
const FRAME_BYTES = 24
/** Frames of audio in one PES packet, about a second. */
const FRAMES_TOGETHER = 47
/** 1024 samples at 48 kHz. */
const FRAME_TICKS = (1024 * TICKS_PER_SECOND) / 48_000
const TABLES_EVERY_SECONDS = 10

/**
 * Writes video and audio of this many seconds (whole minutes) in the memory of one minute.
 */
export async function makeLongTs(path: string, seconds: number): Promise<void> {
  const file = await open(path, 'w')
  const maker = createTsMaker()
  const audio = { frame: 0, count: Math.floor((seconds * TICKS_PER_SECOND) / FRAME_TICKS) }
  try {
    for (let from = 0; from < seconds; from += 60) {
      const until = Math.min(from + 60, seconds)
      await file.write(joinPackets([...packetsBetween(maker, audio, { from, until })]))
    }
  } finally {
    await file.close()
  }
}

function* packetsBetween(
  maker: TsMaker,
  audio: { frame: number; count: number },
  { from, until }: { from: number; until: number },
): Generator<Uint8Array> {
  const perSecond = TICKS_PER_SECOND / VIDEO_FRAME_TICKS
  for (let number = from * perSecond; number < until * perSecond; number += 1) {
    if (number % (TABLES_EVERY_SECONDS * perSecond) === 0) {
      yield* maker.pat()
      yield* maker.pmt([H264_STREAM, AAC_STREAM])
    }
    const ticks = number * VIDEO_FRAME_TICKS
    yield* maker.pes(VIDEO_PID, { pts: FIRST_PTS + ticks }, frameBytes(number))
    const count = Math.min(FRAMES_TOGETHER, audio.count - audio.frame)
    if (audio.frame * FRAME_TICKS > ticks || count === 0) continue
    const pts = FIRST_PTS + audio.frame * FRAME_TICKS
    yield* maker.pes(AUDIO_PID, { pts }, audioBytes(audio.frame, count))
    audio.frame += count
  }
}

/** Payload of one frame. */
function frameBytes(number: number): Uint8Array {
  const bytes = h264Frame(number % GOP_FRAMES === 0 ? 'key' : 'plain', VIDEO_FRAME_BYTES)
  bytes.set(markOf(number), bytes.length - 4)
  return bytes
}

function audioBytes(firstFrame: number, count: number): Uint8Array {
  const bytes = adtsFrames(count, FRAME_BYTES)
  for (let at = 0; at < count; at += 1) bytes.set(markOf(firstFrame + at), at * FRAME_BYTES + 12)
  return bytes
}

/** A number in four bytes that look like no start code. */
function markOf(number: number): number[] {
  return [21, 14, 7, 0].map((shift) => 0x80 | ((number >> shift) & 0x7f))
}

/** Hash of one frame's payload. */
export function frameHash(number: number): string {
  return createHash('sha1').update(frameBytes(number)).digest('hex')
}

/** Hash of one audio frame, header included. */
export function audioFrameHash(frame: number): string {
  return createHash('sha1').update(audioBytes(frame, 1)).digest('hex')
}

/** Presentation time of an audio frame, in ticks after FIRST_PTS. */
export function audioFrameTicks(frame: number): number {
  return frame * FRAME_TICKS
}
