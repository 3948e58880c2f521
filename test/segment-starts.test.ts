// EXTINF is the distance of the starts of two segments: each segment starts when its first frame is
// shown, also with leading frames of open GOPs and at forced splits of growing recordings.
import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { isAppError } from '../server/base/errors.ts'
import { createMediaReaders } from '../server/media/readers.ts'
import {
  longestGrowingSeconds,
  planGrowingSegments,
  planSegments,
} from '../server/stream/hls/playlist/segment-plan.ts'
import type { PlannedSegment } from '../server/stream/hls/playlist/segment-plan.ts'
import { bytesFile } from './support/bytes-file.ts'
import { encodeVideo } from './support/make/encode-video.ts'
import type { EncodedFrame } from './support/make/encode-video.ts'
import { writeVideo } from './support/make/write-video.ts'
import { fixturePath } from './support/temp-library.ts'
import { checkGrowth } from './support/verify/grow-recording.ts'
import { presentationSeconds, readRuns } from './support/verify/served-samples.ts'

const readers = createMediaReaders()
const SEGMENT_SECONDS = 2
const TOLERANCE_SECONDS = 0.002

interface Segment {
  startSeconds: number
  /** When its first frame is shown; undefined without video. */
  shownSeconds: number | undefined
}

/** The segments of the playlist as a finished and as a growing recording. */
async function readSegments(bytes: Uint8Array): Promise<Segment[]> {
  const file = bytesFile(bytes)
  const reader = await readers.forFile(file)
  const found = await reader.index(file, new AbortController().signal)
  const index = reader.asSamples?.(found) ?? found
  const { splitPoints } = index
  const rules = {
    segmentSeconds: SEGMENT_SECONDS,
    longestSeconds: longestGrowingSeconds(SEGMENT_SECONDS),
    stableSplitPoints: found.growth?.stableSplitPoints ?? 0,
  }
  const planned: PlannedSegment[] = [
    ...planSegments(splitPoints, { segmentSeconds: SEGMENT_SECONDS }).segments,
    ...planGrowingSegments(splitPoints, rules).segments,
  ]
  const read = await readRuns(reader, { file, index }, planned)
  return read.map(({ runs }, at) => {
    const video = runs.find(({ kind }) => kind === 'video')
    const shown = video === undefined ? [] : presentationSeconds(video)
    return {
      startSeconds: (planned[at]?.startTicks ?? NaN) / splitPoints.timescale,
      shownSeconds: shown.length === 0 ? undefined : Math.min(...shown),
    }
  })
}

/** In seconds. A session may start with audio: only later starts are compared. */
function worstDistance(segments: readonly Segment[]): number {
  const distances = segments.map(({ startSeconds, shownSeconds = startSeconds }) =>
    startSeconds === 0 ? 0 : Math.abs(shownSeconds - startSeconds),
  )
  return Math.max(0, ...distances)
}

const fixtures = (await readdir(fixturePath('.'))).filter((name) => name !== 'README.md')
const CONTAINERS = ['ts', 'fmp4', 'mkv', 'flv', 'mp4'] as const

/** The same video for all containers, encoded once. */
let openGops: EncodedFrame[] | undefined
let longGop: EncodedFrame[] | undefined

describe('the start of a segment', () => {
  it.each(fixtures)('is when its first frame is shown: %s', async (name) => {
    const segments = await readSegments(await readFile(fixturePath(name))).catch(unlessUnplayable)
    expect(worstDistance(segments)).toBeLessThan(TOLERANCE_SECONDS)
  })

  it.each(CONTAINERS)('is when its first leading frame is shown: open GOPs in %s', async (form) => {
    const params = 'open-gop=1:bframes=3:b-adapt=0:b-pyramid=none'
    openGops ??= encodeVideo({ codec: 'h264', frames: 500, gop: 63, params })
    const bytes = writeVideo(form, { codec: 'h264', frames: openGops })
    const segments = await readSegments(bytes)
    expect(segments.length).toBeGreaterThan(6)
    expect(worstDistance(segments)).toBeLessThan(TOLERANCE_SECONDS)
    if (form !== 'mp4') await growBy(bytes)
  })

  it.each(CONTAINERS)('is when its first frame is shown: a long GOP in %s', async (form) => {
    const params = 'bframes=3:b-adapt=0'
    longGop ??= encodeVideo({ codec: 'h264', frames: 1000, gop: 2000, params })
    const segments = await readSegments(writeVideo(form, { codec: 'h264', frames: longGop }))
    expect(segments.length).toBeGreaterThan(form === 'mp4' ? 0 : 3)
    expect(worstDistance(segments)).toBeLessThan(TOLERANCE_SECONDS)
  })
})

function unlessUnplayable(error: unknown): Segment[] {
  if (isAppError(error, 'unplayable')) return []
  throw error
}

/** Nothing that was listed changes while the recording grows, in steps of about three frames. */
async function growBy(bytes: Uint8Array): Promise<void> {
  const reader = await readers.forFile(bytesFile(bytes))
  const sizes = Array.from({ length: 30 }, (_, at) => Math.floor((bytes.length * (at + 1)) / 31))
  await checkGrowth({ reader, bytes }, sizes)
}
