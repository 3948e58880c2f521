// The MP4 reader on recordings of many hours: each packet is at the computed position, and the
// index stays small.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDiskFile } from '../../../test/support/bytes-file.ts'
import { type LongMp4, makeLongMp4 } from '../../../test/support/make/make-long-mp4.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import {
  rangesOf,
  readRuns,
  readServedSamples,
} from '../../../test/support/verify/served-samples.ts'
import { packetsOf, readReferencePackets } from '../../../test/support/verify/reference-packets.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { type MediaIndex, durationSeconds } from '../media-index.ts'
import { createMp4Reader } from './mp4-reader.ts'

const sourcePath = fileURLToPath(
  new URL('../../../test/fixtures/media/mp4-h264-aac-moov-first.mp4', import.meta.url),
)
const reader = createMp4Reader()
const { signal } = new AbortController()
const folder = makeTempFolder('mp4')

describe('a recording of ten hours', () => {
  const HOURS = 10
  let made: LongMp4
  let file: OpenFile
  let index: MediaIndex
  let indexMs = 0
  let readBytes = 0

  beforeAll(async () => {
    const path = join(folder, 'ten-hours.mp4')
    made = await makeLongMp4({ sourcePath, path, seconds: HOURS * 3600 })
    file = await openDiskFile(path)
    const counting: OpenFile = {
      ...file,
      read: async (buffer, position) => {
        const count = await file.read(buffer, position)
        readBytes += count
        return count
      },
    }
    const started = process.cpuUsage()
    index = await reader.index(counting, signal)
    const { user, system } = process.cpuUsage(started)
    indexMs = (user + system) / 1000
  })
  afterAll(() => file.close())

  it('is indexed quickly, and no table is read more than twice', () => {
    // Far above the measured time (about 100 ms once compiled), for machines that run other tests.
    expect(indexMs).toBeLessThan(2000)
    expect(readBytes).toBeLessThan(made.fileBytes * 1.5)
  })

  it('has a small index', () => {
    expect(v8.serialize(index).length).toBeLessThan(HOURS * 100_000)
  })

  it('computes its duration and split points from packets', () => {
    const gopTicks = made.gopPresentationTicks.length * made.frameTicks
    expect(index.splitPoints.startTicks.length).toBe(
      Math.ceil(made.videoCount / made.gopPresentationTicks.length),
    )
    // One audio packet is before the edit list's start; the video is shifted by its duration.
    const primingTicks = (1024 * 30_000) / 48_000
    expect(index.splitPoints.startTicks[0]).toBe(0)
    expect(index.splitPoints.startTicks[9000]).toBe(9000 * gopTicks + primingTicks)
    const audioEnd = (made.audioCount * 1024) / 48_000
    const frameEnd = (made.videoCount * made.frameTicks + primingTicks) / 30_000
    expect(durationSeconds(index)).toBeCloseTo(Math.max(audioEnd, frameEnd), 3)
  })

  it.each([0, 1, 5000, 11_985])(
    'serves exact times and the looped bytes at split point %i',
    async (splitPoint) => {
      const segments = await readRuns(reader, { file, index }, [
        { from: splitPoint, to: splitPoint + 3 },
      ])
      const gop = made.gopPresentationTicks.length
      const frames = await readServedSamples(file, segments, 'video')
      expect(frames.length).toBe(Math.min(3 * gop, made.videoCount - splitPoint * gop))
      const priming = (1024 * 30_000) / 48_000
      for (const [at, { ptsSeconds }] of frames.entries()) {
        const inGop = made.gopPresentationTicks[at % gop] ?? NaN
        const ticks = (splitPoint * gop + at - (at % gop)) * made.frameTicks + inGop + priming
        expect(Math.abs(ptsSeconds - ticks / 30_000)).toBeLessThan(1e-6)
      }
      const source = await readReferencePackets(sourcePath)
      const frameHashes = packetsOf(source, 0).map((packet) => packet.sha1)
      expect(frames.map((sample) => sample.sha1)).toEqual(
        frames.map((_, at) => frameHashes[at % gop]),
      )
      const audioTracks = await readServedSamples(file, segments, 'audio')
      const first = Math.round(((audioTracks[0]?.ptsSeconds ?? NaN) * 48_000) / 1024)
      const audioHashes = packetsOf(source, 1).map((packet) => packet.sha1)
      expect(audioTracks.map((sample) => sample.sha1)).toEqual(
        audioTracks.map((_, at) => audioHashes[(first + at) % made.audioLoop]),
      )
    },
  )

  it('serves every packet of both tracks exactly once', async () => {
    const counts = { video: 0, audio: 0 }
    const next = { video: 0, audio: 0 }
    for (const range of rangesOf(index, 400)) {
      const content = await reader.readSegment(file, index, range)
      for (const run of content.kind === 'samples' ? content.runs : []) {
        expect(run.firstDecodeTicks).toBe(next[run.kind])
        counts[run.kind] += run.sizes.length
        next[run.kind] = run.durations.reduce((sum, ticks) => sum + ticks, run.firstDecodeTicks)
      }
    }
    expect(counts).toEqual({ video: made.videoCount, audio: made.audioCount })
  })
})

describe('other encodings of the same tables', () => {
  it('serves co64, stz2 and moov first like stco, stsz and moov last', async () => {
    const small = { sourcePath: sourcePath.replace('moov-first', 'editlist-video-starts-1s') }
    const plain = { ...small, path: join(folder, 'plain.mp4'), seconds: 120 }
    const other = {
      ...plain,
      path: join(folder, 'other.mp4'),
      moov: 'first',
      chunkForm: 'co64',
      sizeForm: 'stz2',
    } as const
    const hashes: string[][] = []
    for (const plan of [plain, other]) {
      await makeLongMp4(plan)
      const file = await openDiskFile(plan.path)
      const index = await reader.index(file, signal)
      const segments = await readRuns(reader, { file, index }, rangesOf(index, 2))
      const samples = [
        ...(await readServedSamples(file, segments, 'video')),
        ...(await readServedSamples(file, segments, 'audio')),
      ]
      hashes.push(samples.map(({ sha1, ptsSeconds }) => `${sha1} ${ptsSeconds}`))
      await file.close()
    }
    expect(hashes[0]?.length).toBeGreaterThan(9000)
    expect(hashes[1]).toEqual(hashes[0])
  })
})
