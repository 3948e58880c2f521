// Compares the presentation time of every video frame that a reader serves with FFmpeg's demuxer,
// which is what ffprobe prints.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { FFmpegError } from 'node-av/lib'
import { isAppError } from '../../../server/base/errors.ts'
import { SPLIT_DISCONTINUITY } from '../../../server/media/media-index.ts'
import type { MediaIndex } from '../../../server/media/media-index.ts'
import type { SampleRun } from '../../../server/media/media-reader.ts'
import { createMediaReaders } from '../../../server/media/readers.ts'
import { bytesFile } from '../bytes-file.ts'
import { presentationSeconds, rangesOf, readRuns } from './served-samples.ts'
import { type ReferencePacket, readReferencePackets } from './reference-packets.ts'

/** Clocks round: Matroska and FLV count milliseconds. */
const TOLERANCE_SECONDS = 0.002

const readers = createMediaReaders()

export type FrameTimes =
  | { outcome: 'refused'; reason: string }
  /** Audio only. */
  | { outcome: 'no-video' }
  | { outcome: 'equal'; frames: number }
  /** `reason`: of a known difference. */
  | { outcome: 'different'; difference: string; reason?: string }

/**
 * Differences that are not ours, or that are intended: the first twelve digits of the file's
 * SHA-256, and the reason.
 */
const KNOWN_DIFFERENCES = new Map([
  ['e3abe643f6ab', 'begins inside a GOP: frames before the first key frame are not served'],
  ['1f5077e29b8e', 'truncated: FFmpeg lists a frame that the file does not contain completely'],
  ['bf15fc8727d3', 'from a fuzzer, with a chunk after the end of the file: FFmpeg refuses it'],
])

/** Indexes a file, reads all its video and compares the time of each frame. */
export async function compareFrameTimes(path: string): Promise<FrameTimes> {
  const bytes = await readFile(path)
  const served = await readServedFrames(bytes)
  if (!Array.isArray(served)) return served
  const result = await compareWithReference(path, served)
  if (result.outcome !== 'different') return result
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
  const reason = KNOWN_DIFFERENCES.get(hash)
  return { ...result, ...(reason !== undefined && { reason }) }
}

/** Every frame, in decode order. */
async function readServedFrames(bytes: Uint8Array): Promise<Frame[] | FrameTimes> {
  const file = bytesFile(bytes)
  try {
    const reader = await readers.forFile(file)
    const found = await reader.index(file, new AbortController().signal)
    const index = reader.asSamples?.(found) ?? found
    if (!index.tracks.some(({ kind }) => kind === 'video')) return { outcome: 'no-video' }
    const segments = await readRuns(reader, { file, index }, rangesOf(index, 1))
    return segments.flatMap(({ range, runs }) =>
      runs
        .filter(({ kind }) => kind === 'video')
        .flatMap((run) => framesOf(run, index, range.from)),
    )
  } catch (error) {
    if (!isAppError(error, 'unplayable')) throw error
    return { outcome: 'refused', reason: error.message }
  }
}

function framesOf(run: SampleRun, index: MediaIndex, splitPoint: number): Frame[] {
  const section = sectionAt(index, splitPoint)
  return presentationSeconds(run).map((seconds) => ({ seconds, section }))
}

interface Frame {
  seconds: number
  /** Number of discontinuities before it: the session's timeline continues across them. */
  section: number
}

function sectionAt({ splitPoints }: MediaIndex, splitPoint: number): number {
  return splitPoints.flags
    .subarray(0, splitPoint + 1)
    .filter((flags) => (flags & SPLIT_DISCONTINUITY) !== 0).length
}

/** The video stream whose times are closest: FFmpeg may list several. */
async function compareWithReference(path: string, served: Frame[]): Promise<FrameTimes> {
  const packets = await readReference(path)
  if (packets === undefined) return { outcome: 'different', difference: 'FFmpeg refuses the file' }
  const streams = Map.groupBy(
    packets.filter(({ kind }) => kind === 'video'),
    ({ streamIndex }) => streamIndex,
  )
  const results = [...streams.values()].map((stream) =>
    compareTimes(
      served,
      stream.map(({ ptsSeconds }) => ptsSeconds),
    ),
  )
  const equal = results.find(({ outcome }) => outcome === 'equal')
  return equal ?? results[0] ?? compareTimes(served, [])
}

async function readReference(path: string): Promise<ReferencePacket[] | undefined> {
  try {
    return await readReferencePackets(path, isMp4(path) ? { advanced_editlist: 1 } : {})
  } catch (error) {
    if (error instanceof FFmpegError) return undefined
    throw error
  }
}

function isMp4(path: string): boolean {
  return /\.(mp4|m4v|mov|m4s|3gp)$/i.test(path)
}

/** Both in decode order. Frames without a time of their own are skipped. */
function compareTimes(served: readonly Frame[], expected: readonly number[]): FrameTimes {
  if (served.length !== expected.length) {
    const difference = `${served.length} frames instead of ${expected.length}`
    return { outcome: 'different', difference }
  }
  const shifts = new Map<number, number>()
  const worst = { at: 0, seconds: 0 }
  for (const [at, { seconds, section }] of served.entries()) {
    const shift = seconds - (expected[at] ?? NaN)
    if (Number.isNaN(shift)) continue
    const distance = shift - (shifts.get(section) ?? shift)
    if (!shifts.has(section)) shifts.set(section, shift)
    if (Math.abs(distance) > Math.abs(worst.seconds))
      Object.assign(worst, { at, seconds: distance })
  }
  if (Math.abs(worst.seconds) <= TOLERANCE_SECONDS) {
    return { outcome: 'equal', frames: served.length }
  }
  const milliseconds = Math.round(worst.seconds * 1000)
  const difference = `frame ${worst.at} of ${served.length} is off by ${milliseconds} ms`
  return { outcome: 'different', difference }
}
