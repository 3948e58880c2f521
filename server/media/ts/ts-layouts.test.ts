// Recordings in all the layouts of muxers, networks and disks.
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  AAC_STREAM,
  adtsFrames,
  AUDIO_PID,
  createTsMaker,
  H264_STREAM,
  h264Frame,
  joinPackets,
  mpegFrames,
  NULL_PACKET,
  PMT_PID,
  scramble,
  VIDEO_PID,
} from '../../../test/support/make/make-ts.ts'
import type { StreamListing, TsMaker } from '../../../test/support/make/make-ts.ts'
import {
  everySplitPoint,
  packetsOfPid,
  pidsOf,
  readSegmentBytes,
} from '../../../test/support/verify/ts-segments.ts'
import { UnplayableError } from '../../base/errors.ts'
import type { UnplayableReason } from '../../base/problem.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import {
  SPLIT_DISCONTINUITY,
  SPLIT_KEY_FRAME,
  SPLIT_FORCED,
  durationSeconds,
} from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import { createTsReader } from './ts-reader.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const reader = createTsReader()
const SECOND = 90_000

function indexOf(file: OpenFile): Promise<MediaIndex> {
  return reader.index(file, AbortSignal.timeout(patienceMs))
}

interface Play {
  bytes: Uint8Array
  index: MediaIndex
  segments: Uint8Array[]
}

async function play(bytes: Uint8Array): Promise<Play> {
  const file = bytesFile(bytes)
  const index = await indexOf(file)
  const segments: Uint8Array[] = []
  for (const range of everySplitPoint(index)) {
    segments.push(await readSegmentBytes({ reader, file, index }, range))
  }
  return { bytes, index, segments }
}

async function playPackets(...groups: Uint8Array[][]): Promise<Play> {
  return play(joinPackets(groups.flat()))
}

/** All split points that are not forced. */
function startSeconds({ index }: Play): number[] {
  return everySplitPoint(index).map(({ from }) =>
    Number(((index.splitPoints.startTicks[from] ?? 0) / SECOND).toFixed(3)),
  )
}

function mainFlags({ index }: Play): number[] {
  return everySplitPoint(index).map(({ from }) => index.splitPoints.flags[from] ?? 0)
}

/** One GOP of a second: a key frame and three frames, four PES packets of audio (0.256 s each). */
function gop(maker: TsMaker, startTicks: number, key: Parameters<typeof h264Frame>[0] = 'key') {
  return [0, 1, 2, 3].map((i) => {
    const pts = startTicks + i * (SECOND / 4)
    return {
      frame: maker.pes(VIDEO_PID, { pts }, h264Frame(i === 0 ? key : 'plain', 900)),
      audio: maker.pes(AUDIO_PID, { pts }, adtsFrames(12)),
    }
  })
}

function tables(
  maker: TsMaker,
  streams: StreamListing[] = [H264_STREAM, AAC_STREAM],
): Uint8Array[] {
  return [...maker.pat(), ...maker.pmt(streams)]
}

/** The packets of each frame, then those of the audio beside it. */
function packetsIn(frames: ReturnType<typeof gop>): Uint8Array[] {
  return frames.flatMap(({ frame, audio }) => [...frame, ...audio])
}

/** `seconds` GOPs with video and audio, one after the other. */
function plainGops(maker: TsMaker, startTicks: number, seconds: number): Uint8Array[] {
  const starts = Array.from({ length: seconds }, (_, i) => startTicks + i * SECOND)
  return packetsIn(starts.flatMap((ticks) => gop(maker, ticks)))
}

function plainRecording(seconds: number, startTicks = SECOND): Uint8Array[] {
  const maker = createTsMaker()
  return [...tables(maker), ...plainGops(maker, startTicks, seconds)]
}

function expectEachPacketOnce({ segments, bytes }: Play, pids = [VIDEO_PID, AUDIO_PID]): void {
  for (const pid of pids) {
    const served = segments.flatMap((segment) => packetsOfPid(segment, pid))
    expect(served).toEqual(packetsOfPid(bytes, pid))
    // payload_unit_start_indicator: no segment begins a stream within a PES packet.
    const firsts = segments.flatMap((segment) => packetsOfPid(segment, pid).slice(0, 1))
    expect(firsts.filter((hex) => (Number.parseInt(hex.slice(2, 4), 16) & 0x40) === 0)).toEqual([])
  }
}

describe('packets', () => {
  it('begin every segment with PAT and PMT', async () => {
    const { segments, index } = await playPackets(plainRecording(5))
    expect(index.splitPoints.startTicks.length).toBe(5)
    for (const segment of segments) expect(pidsOf(segment).slice(0, 2)).toEqual([0, PMT_PID])
    expect(pidsOf(segments[1] ?? new Uint8Array(0))[2]).toBe(VIDEO_PID)
  })

  it('continue the PAT and PMT counters of the last ones', async () => {
    const maker = createTsMaker()
    const packets = [0, 1, 2, 3].flatMap((i) => [
      ...tables(maker),
      ...plainGops(maker, (i + 1) * SECOND, 1),
    ])
    const { segments } = await playPackets(packets)
    const counters = segments.map((segment) => packetsOfPid(segment, PMT_PID).map((hex) => hex[7]))
    // Each table precedes its key frame, at the end of the previous segment; its duplicate begins
    // the next.
    expect(counters).toEqual([['f', '0', '1'], ['1', '2'], ['2', '3'], ['3']])
  })

  it('of 192 bytes are served as 188 bytes', async () => {
    const packets = plainRecording(3)
    const file = bytesFile(joinPackets(packets, 192))
    const index = await indexOf(file)
    const segments = await Promise.all(
      everySplitPoint(index).map((range) => readSegmentBytes({ reader, file, index }, range)),
    )
    expect(index.splitPoints.startTicks.length).toBe(3)
    expectEachPacketOnce({ segments, index, bytes: joinPackets(packets) })
  })

  it('of 204 bytes are served as 188 bytes', async () => {
    const packets = plainRecording(3)
    const parity = new Uint8Array(16).fill(0x47)
    const { segments, index } = await play(
      Buffer.concat(packets.flatMap((packet) => [packet, parity])),
    )
    expect(index.splitPoints.startTicks.length).toBe(3)
    expectEachPacketOnce({ segments, index, bytes: joinPackets(packets) })
  })

  it('are found after garbage, and garbage between them is left out of segments', async () => {
    const packets = plainRecording(6)
    const noise = new Uint8Array(100).fill(0x47)
    const bytes = Buffer.concat([
      noise,
      joinPackets(packets.slice(0, 30)),
      noise,
      joinPackets(packets.slice(30, 70)),
      noise,
      joinPackets(packets.slice(70)),
    ])
    const made = await play(bytes)
    expectEachPacketOnce({ ...made, bytes: joinPackets(packets) })
    expect(startSeconds(made)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('of 192 bytes are found again after garbage, for any time codes', async () => {
    const packets = plainRecording(6)
    const noise = new Uint8Array(100).fill(0x47)
    const [early, late] = [packets.slice(0, 50), packets.slice(50)]
    const bytes = Buffer.concat([joinPackets(early, 192), noise, joinPackets(late, 192)])
    const { segments, index } = await play(bytes)
    expectEachPacketOnce({ segments, index, bytes: joinPackets(packets) })
    expect(index.splitPoints.startTicks.length).toBe(6)
  })

  it('that are truncated are left out, and later ones stay in sync', async () => {
    const packets = plainRecording(6)
    const short = packets[50]?.subarray(0, 77) ?? new Uint8Array(0)
    const bytes = Buffer.concat([
      joinPackets(packets.slice(0, 50)),
      short,
      joinPackets(packets.slice(51)),
    ])
    const { segments } = await play(bytes)
    for (const segment of segments) expect(pidsOf(segment).length * 188).toBe(segment.length)
    const whole = [...packets.slice(0, 50), ...packets.slice(51)]
    const served = segments.flatMap((segment) => packetsOfPid(segment, VIDEO_PID))
    expect(served).toEqual(packetsOfPid(joinPackets(whole), VIDEO_PID))
  })

  it('that are truncated tables leave those after them whole', async () => {
    const maker = createTsMaker()
    const first = [...tables(maker), ...plainGops(maker, SECOND, 1)]
    const [pat = NULL_PACKET, pmt = NULL_PACKET] = [
      ...maker.pat(),
      ...maker.pmt([H264_STREAM, { type: 0x81, pid: 0x110 }, AAC_STREAM], { version: 1 }),
    ]
    const rest = [2, 3, 4].flatMap((second) =>
      gop(maker, second * SECOND).flatMap(({ frame: videoFrame, audio }) => [
        ...audio,
        ...videoFrame,
      ]),
    )
    const bytes = Buffer.concat([...first, pat, pmt.subarray(0, 94), ...rest])
    const { segments } = await play(bytes)
    for (const segment of segments) expect(pidsOf(segment).length * 188).toBe(segment.length)
    const served = segments.flatMap((segment) => packetsOfPid(segment, VIDEO_PID))
    expect(served).toEqual(packetsOfPid(joinPackets([...first, ...rest]), VIDEO_PID))
  })

  it('end where a file was allocated but never written', async () => {
    const bytes = joinPackets(plainRecording(4))
    const index = await indexOf(bytesFile(bytes, 60 * 2 ** 30))
    expect(index.source).toMatchObject({ container: 'ts', endOffset: bytes.length })
    expect(durationSeconds(index)).toBeCloseTo(4.006, 2)
  })

  it('are not searched through 60 GB of zeros', async () => {
    const reading = indexOf(bytesFile(new Uint8Array(0), 60 * 2 ** 30))
    await expect(reading).rejects.toMatchObject({ reason: { code: 'file-starts-with-zeros' } })
  })
})

describe('audio at a split point', () => {
  it('that continues after a key frame belongs to the segment before', async () => {
    const maker = createTsMaker()
    const gops = [1, 2, 3, 4].flatMap((i) => gop(maker, i * SECOND))
    // The audio of each frame is interleaved with the next frame.
    const woven = gops.flatMap(({ frame: videoFrame }, i) => {
      const late = gops[i - 1]?.audio ?? []
      const [first = new Uint8Array(0), ...rest] = late
      const start = i === 0 ? [] : [first]
      return [
        ...start,
        ...videoFrame.flatMap((packet, j) => [packet, ...rest.slice(j, j + 1)]),
        ...rest.slice(videoFrame.length),
      ]
    })
    const made = await playPackets(tables(maker), woven, gops.at(-1)?.audio ?? [])
    expect(made.index.splitPoints.startTicks.length).toBe(4)
    expect(made.index.source).toMatchObject({
      carryBytes: expect.objectContaining({ 1: expect.any(Number) }),
    })
    expectEachPacketOnce(made)
  })

  it('that precedes the key frame flag belongs to the segment before', async () => {
    const maker = createTsMaker()
    const filler = Uint8Array.from({ length: 600 }, (_, i) => [0, 0, 0, 1, 0x0c][i] ?? 0xff)
    const key = (pts: number) =>
      maker.pes(VIDEO_PID, { pts }, Buffer.concat([filler, h264Frame('key', 900)]))
    const audio = (pts: number) => maker.pes(AUDIO_PID, { pts }, adtsFrames(3))
    const [first, second, third] = [key(SECOND), key(2 * SECOND), key(3 * SECOND)]
    const [start = NULL_PACKET, ...rest] = audio(SECOND)
    const [head = NULL_PACKET, ...others] = second
    const woven = [...first, start, head, ...rest, ...others, ...audio(2 * SECOND), ...third]
    const made = await playPackets(tables(maker), woven)
    expect(startSeconds(made)).toEqual([0, 1, 2])
    expectEachPacketOnce(made)
  })

  it('before the first frame begins the session, and keeps its offset', async () => {
    const maker = createTsMaker()
    const early = maker.pes(AUDIO_PID, { pts: SECOND / 2 }, adtsFrames(20))
    const made = await playPackets(tables(maker), early, plainGops(maker, SECOND, 3))
    expect(startSeconds(made)).toEqual([0, 1.5, 2.5])
    expectEachPacketOnce(made)
  })

  it('that continues long after the video is split about every second', async () => {
    const maker = createTsMaker()
    const tail = Array.from({ length: 240 }, (_, i) =>
      maker.pes(AUDIO_PID, { pts: 4 * SECOND + i * (SECOND / 4) }, adtsFrames(12)),
    ).flat()
    const made = await playPackets(tables(maker), plainGops(maker, SECOND, 3), tail)
    expect(durationSeconds(made.index)).toBeCloseTo(63, 1)
    expect(mainFlags(made)).toEqual([1, 1, 1, ...Array.from({ length: 41 }, () => 0)])
    expect(startSeconds(made).slice(3)).toEqual(Array.from({ length: 41 }, (_, i) => 22.75 + i))
    expectEachPacketOnce(made)
    expect(await reader.readKeyFrame(bytesFile(made.bytes), made.index, 20)).toBeUndefined()
  })
})

describe('video', () => {
  it('before the first key frame is not served, nor is the audio beside it', async () => {
    const maker = createTsMaker()
    const headless = packetsIn(gop(maker, 0, 'plain'))
    const made = await playPackets(tables(maker), headless, plainGops(maker, SECOND, 3))
    expect(startSeconds(made)).toEqual([0, 1, 2])
    expect(made.segments.flatMap((segment) => packetsOfPid(segment, VIDEO_PID)).length).toBe(60)
  })

  it('in B-frame order keeps its time over the wrap of the 33-bit clock', async () => {
    const maker = createTsMaker()
    const frame = SECOND / 4
    const start = 2 ** 33 - 2 * SECOND
    const order = [0, 3, 1, 2]
    const packets = Array.from({ length: 20 }, (_, i) => {
      const dts = start + i * frame
      const pts = start + (4 * Math.floor(i / 4) + (order[i % 4] ?? 0) + 2) * frame
      return maker.pes(VIDEO_PID, { pts, dts }, h264Frame(i % 4 === 0 ? 'key' : 'plain', 600))
    }).flat()
    const made = await playPackets(tables(maker, [H264_STREAM]), packets)
    expect(startSeconds(made)).toEqual([0, 1, 2, 3, 4])
    expect(durationSeconds(made.index)).toBe(5)
    expect(made.index.splitPoints.flags.every((flag) => flag === SPLIT_KEY_FRAME)).toBe(true)
  })

  it('keeps its time however often the clock wraps', async () => {
    const maker = createTsMaker()
    const count = Math.ceil((2.2 * 2 ** 33) / (9 * SECOND))
    const frames = Array.from({ length: count }, (_, i) =>
      maker.pes(VIDEO_PID, { pts: i * 9 * SECOND }, h264Frame('key', 100)),
    ).flat()
    const bytes = joinPackets([...tables(maker, [H264_STREAM]), ...frames])
    const index = await indexOf(bytesFile(bytes))
    expect(index.splitPoints.startTicks).toEqual(
      Float64Array.from({ length: count }, (_, i) => i * 9 * SECOND),
    )
    expect(index.splitPoints.flags.every((flag) => flag === SPLIT_KEY_FRAME)).toBe(true)
  })

  it('at recovery points is split after five seconds without a key frame', async () => {
    const maker = createTsMaker()
    const gops = Array.from({ length: 9 }, (_, i) =>
      gop(maker, (i + 1) * SECOND, i === 0 || i === 8 ? 'key' : 'recovery'),
    )
    const packets = packetsIn(gops.flat())
    const made = await playPackets(tables(maker), packets)
    expect(startSeconds(made)).toEqual([0, 6, 7, 8])
  })

  it('at recovery points is split if there is no other key frame', async () => {
    const maker = createTsMaker()
    const gops = [1, 2, 3].flatMap((i) => gop(maker, i * SECOND, 'recovery'))
    const packets = packetsIn(gops)
    const made = await playPackets(tables(maker), packets)
    expect(startSeconds(made)).toEqual([0, 1, 2])
  })

  it('at recovery points is not split if key frames are frequent', async () => {
    const maker = createTsMaker()
    const gops = [1, 2, 3, 4].flatMap((i) =>
      gop(maker, i * SECOND, i % 2 === 1 ? 'key' : 'recovery'),
    )
    const packets = packetsIn(gops)
    const made = await playPackets(tables(maker), packets)
    expect(startSeconds(made)).toEqual([0, 2])
  })

  it('with new parameter sets begins after a discontinuity on the same clock', async () => {
    const maker = createTsMaker()
    const gops = [1, 2, 3, 4].flatMap((i) => gop(maker, i * SECOND, i < 3 ? 'key' : 'other key'))
    const packets = packetsIn(gops)
    const made = await playPackets(tables(maker), packets)
    expect(startSeconds(made)).toEqual([0, 1, 2, 3])
    expect([...made.index.splitPoints.flags]).toEqual([
      1,
      1,
      SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY,
      1,
    ])
    expectEachPacketOnce(made)
  })

  it('without parameter sets gets the previous ones', async () => {
    const maker = createTsMaker()
    const gops = [1, 2].flatMap((i) => gop(maker, i * SECOND, i === 1 ? 'key' : 'bare key'))
    const packets = packetsIn(gops)
    const { bytes, index } = await playPackets(tables(maker), packets)
    const [whole, bare] = await Promise.all(
      [0, 1].map((splitPoint) => reader.readKeyFrame(bytesFile(bytes), index, splitPoint)),
    )
    const setsAt = whole?.data.subarray(6, 46) ?? new Uint8Array(0)
    expect(setsAt[4]).toBe(0x67)
    expect(Buffer.from(bare?.data.subarray(0, 40) ?? []).equals(setsAt)).toBe(true)
  })

  it('with key frames less than a second apart is not split at each', async () => {
    const maker = createTsMaker()
    const packets = Array.from({ length: 120 }, (_, i) =>
      maker.pes(VIDEO_PID, { pts: i * 3000 }, h264Frame('key', 300)),
    ).flat()
    const made = await playPackets(tables(maker, [H264_STREAM]), packets)
    expect(startSeconds(made)).toEqual([0, 0.9, 1.8, 2.7, 3.6])
  })
})

describe('tables', () => {
  it('that come late apply to the packets before them, too', async () => {
    const maker = createTsMaker()
    const first = plainGops(maker, SECOND, 2)
    const made = await playPackets(first, tables(maker), plainGops(maker, 3 * SECOND, 2))
    expect(startSeconds(made)).toEqual([0, 1, 2, 3])
    expectEachPacketOnce(made)
  })

  it('are replaced if audio that browsers lack is listed first', async () => {
    const maker = createTsMaker()
    const streams = [H264_STREAM, { type: 0x81, pid: 0x110 }, AAC_STREAM]
    const { segments, index } = await playPackets(
      tables(maker, streams),
      plainGops(maker, SECOND, 2),
      tables(maker, streams),
    )
    expect(index.tracks.map(({ codecName }) => codecName)).toEqual(['H.264', 'AAC'])
    for (const segment of segments) {
      const [pmt, ...others] = packetsOfPid(segment, PMT_PID)
      expect(others).toEqual([])
      expect(pmt).toContain('1be100f000' + '0fe101f000')
    }
  })

  it('stay if the audio that browsers lack is listed later', async () => {
    const maker = createTsMaker()
    const streams = [H264_STREAM, AAC_STREAM, { type: 0x81, pid: 0x110 }]
    const packets = tables(maker, streams)
    const { segments } = await playPackets(packets, plainGops(maker, SECOND, 2))
    expect(packetsOfPid(segments[1] ?? new Uint8Array(0), PMT_PID)[0]).toBe(
      packetsOfPid(joinPackets(packets), PMT_PID)[0],
    )
  })

  it.each([
    ['without a descriptor', []],
    ['with its language alone', [0x0a, 4, ...Buffer.from('und'), 0]],
  ])('list AAC that is recorded as private %s', async (_, descriptors) => {
    const maker = createTsMaker()
    const streams = [H264_STREAM, { type: 0x06, pid: AUDIO_PID, descriptors }]
    const made = await playPackets(tables(maker, streams), plainGops(maker, SECOND, 2))
    expect(made.index.tracks.map(({ codec }) => codec)).toEqual(['avc1.64000b', 'mp4a.40.2'])
    for (const segment of made.segments) {
      expect(packetsOfPid(segment, PMT_PID)).toEqual([expect.stringContaining('0fe101f000')])
    }
  })

  it('do not list audio that never comes', async () => {
    const maker = createTsMaker()
    const frames = [1, 2]
      .flatMap((i) => gop(maker, i * SECOND))
      .flatMap(({ frame: videoFrame }) => videoFrame)
    const { segments, index } = await playPackets(tables(maker), frames)
    expect(index.tracks.map(({ kind }) => kind)).toEqual(['video'])
    expect(packetsOfPid(segments[0] ?? new Uint8Array(0), PMT_PID)).toHaveLength(1)
    expect(packetsOfPid(segments[0] ?? new Uint8Array(0), PMT_PID)[0]).not.toContain('0fe101')
  })

  it('of several packets are replaced by one that players can read', async () => {
    const maker = createTsMaker()
    const descriptors = [0x80, 250, ...new Uint8Array(250)]
    const streams = [{ ...H264_STREAM, descriptors }, AAC_STREAM]
    const { segments } = await playPackets(tables(maker, streams), plainGops(maker, SECOND, 2))
    for (const segment of segments)
      expect(pidsOf(segment).slice(0, 3)).toEqual([0, PMT_PID, VIDEO_PID])
  })

  it('of the first program with video are used', async () => {
    const maker = createTsMaker()
    const pat = maker.pat([
      [0, 0x10],
      [7, 0x1001],
      [1, PMT_PID],
    ])
    const radio = maker.pmt([{ type: 0x0f, pid: 0x200 }], { pid: 0x1001, program: 7 })
    const tv = maker.pmt([H264_STREAM, AAC_STREAM])
    const made = await playPackets(pat, radio, tv, plainGops(maker, SECOND, 2))
    expect(made.index.tracks.map(({ kind }) => kind)).toEqual(['video', 'audio'])
    for (const segment of made.segments) expect(packetsOfPid(segment, 0)).toHaveLength(1)
  })

  it('of several programs are replaced by those of the one that is served', async () => {
    const maker = createTsMaker()
    const pat = maker.pat([
      [1, PMT_PID],
      [7, 0x1001],
    ])
    const radio = maker.pmt([{ type: 0x0f, pid: 0x200 }], { pid: 0x1001, program: 7 })
    const tv = maker.pmt([H264_STREAM, AAC_STREAM])
    const other = maker.pes(0x200, { pts: SECOND }, adtsFrames(20))
    const packets = plainGops(maker, SECOND, 2).flatMap((packet, i) => [
      packet,
      ...other.slice(i, i + 1),
    ])
    const { segments } = await playPackets(pat, radio, tv, packets, other, pat, radio, tv)
    expect(segments).toHaveLength(2)
    for (const segment of segments) {
      const [listed, ...others] = packetsOfPid(segment, 0)
      expect(others).toEqual([])
      // Table id, section length, transport stream id, version, section numbers, one program.
      expect(listed).toMatch(/00b00d\w{4}\w{2}0000 ?0001f000/)
      expect(new Set(pidsOf(segment))).toEqual(new Set([0, PMT_PID, VIDEO_PID, AUDIO_PID]))
    }
  })

  it('with other PIDs begin a section after a discontinuity', async () => {
    const maker = createTsMaker()
    const moved = [{ type: 0x1b, pid: 0x120 }, AAC_STREAM]
    const later = [3, 4].flatMap((i) => [
      ...maker.pes(0x120, { pts: i * SECOND }, h264Frame('key', 900)),
      ...maker.pes(AUDIO_PID, { pts: i * SECOND }, adtsFrames(46)),
    ])
    const packets = [
      ...tables(maker),
      ...plainGops(maker, SECOND, 2),
      ...maker.pat(),
      ...maker.pmt(moved, { version: 1 }),
      ...later,
    ]
    const made = await playPackets(packets)
    expect(startSeconds(made)).toEqual([0, 1, 2, 3])
    expect([...made.index.splitPoints.flags]).toEqual([1, 1, 3, 1])
    expect(packetsOfPid(made.segments[2] ?? new Uint8Array(0), PMT_PID)[0]).toContain('1be120')
    expectEachPacketOnce(made, [VIDEO_PID, 0x120, AUDIO_PID])
  })
})

describe('discontinuities', () => {
  it.each([
    ['set back', 0],
    ['set far on', 5000 * SECOND],
  ])('the clock %s: the session continues without a gap', async (_, startTicks) => {
    const maker = createTsMaker()
    const packets = [...plainGops(maker, 100 * SECOND, 3), ...plainGops(maker, startTicks, 3)]
    const made = await playPackets(tables(maker), packets)
    expect(startSeconds(made)).toEqual([0, 1, 2, 3.006, 4.006, 5.006])
    expect([...made.index.splitPoints.flags]).toEqual([1, 1, 1, 3, 1, 1])
    expectEachPacketOnce(made)
  })

  it('with audio before the video begin with the audio', async () => {
    const maker = createTsMaker()
    const before = plainGops(maker, 100 * SECOND, 2)
    const early = maker.pes(AUDIO_PID, { pts: SECOND - 4500 }, adtsFrames(2))
    const made = await playPackets(tables(maker), before, early, plainGops(maker, SECOND, 2))
    const third = made.segments[2] ?? new Uint8Array(0)
    expect(pidsOf(third).slice(0, 3)).toEqual([0, PMT_PID, AUDIO_PID])
    expect(startSeconds(made)).toEqual([0, 1, 2.006, 3.056])
    expectEachPacketOnce(made)
  })

  it('within a GOP begin there if the video continues', async () => {
    const maker = createTsMaker()
    const before = plainGops(maker, 100 * SECOND, 2)
    const headless = packetsIn(gop(maker, 0, 'plain'))
    const made = await playPackets(tables(maker), before, headless, plainGops(maker, SECOND, 2))
    expect(startSeconds(made)).toEqual([0, 1, 2.006, 3.006, 4.006])
    expect(mainFlags(made)).toEqual([1, 1, SPLIT_DISCONTINUITY, 1, 1])
    expectEachPacketOnce(made)
    expect(await reader.readKeyFrame(bytesFile(made.bytes), made.index, 2)).toBeUndefined()
  })

  it('within a GOP begin at the next key frame if packets are missing', async () => {
    const maker = createTsMaker()
    const before = plainGops(maker, 100 * SECOND, 2)
    maker.pes(VIDEO_PID, { pts: 0 }, h264Frame('plain', 100))
    const headless = packetsIn(gop(maker, 0, 'plain'))
    const made = await playPackets(tables(maker), before, headless, plainGops(maker, SECOND, 2))
    expect(startSeconds(made)).toEqual([0, 1, 2.006, 3.006])
    expect(made.segments.flatMap((segment) => packetsOfPid(segment, VIDEO_PID)).length).toBe(80)
  })

  it('do not exist at a pause of the video that audio covers', async () => {
    const maker = createTsMaker()
    const bridge = Array.from({ length: 60 }, (_, i) =>
      maker.pes(AUDIO_PID, { pts: 3 * SECOND + (i * SECOND) / 4 }, adtsFrames(12)),
    ).flat()
    const packets = [...plainGops(maker, SECOND, 2), ...bridge, ...plainGops(maker, 18 * SECOND, 2)]
    const made = await playPackets(tables(maker), packets)
    expect(startSeconds(made)).toEqual([0, 1, 17, 18])
    expect(mainFlags(made)).toEqual([1, 1, 1, 1])
    const { flags, startTicks } = made.index.splitPoints
    const mid = [...flags.keys()].filter((splitPoint) => flags[splitPoint] === SPLIT_FORCED)
    expect(mid.map((splitPoint) => (startTicks[splitPoint] ?? 0) / SECOND)).toEqual([
      6, 8, 10, 12, 14, 16,
    ])
  })

  it('do not exist at a single wrong stamp', async () => {
    const maker = createTsMaker()
    const wrong = maker.pes(VIDEO_PID, { pts: 5_000 * SECOND }, h264Frame('plain', 900))
    const packets = [...plainGops(maker, SECOND, 2), ...wrong, ...plainGops(maker, 3 * SECOND, 2)]
    const made = await playPackets(tables(maker), packets)
    expect(startSeconds(made)).toEqual([0, 1, 2, 3])
    expect(mainFlags(made)).toEqual([1, 1, 1, 1])
    expect(durationSeconds(made.index)).toBeCloseTo(4.006, 2)
    expectEachPacketOnce(made)
  })

  it('exist where video and audio pause together', async () => {
    const maker = createTsMaker()
    const packets = [...plainGops(maker, SECOND, 3), ...plainGops(maker, 60 * SECOND, 3)]
    const made = await playPackets(tables(maker), packets)
    expect(startSeconds(made)).toEqual([0, 1, 2, 3.006, 4.006, 5.006])
    expect(mainFlags(made)).toEqual([1, 1, 1, 3, 1, 1])
  })
})

describe('limitations', () => {
  it('have positions: other bytes, jumps, undecodable frames, and a truncated packet', async () => {
    const maker = createTsMaker()
    const first = [...tables(maker), ...plainGops(maker, 100 * SECOND, 2)]
    maker.pes(VIDEO_PID, { pts: 0 }, h264Frame('plain', 100))
    const headless = packetsIn(gop(maker, 0, 'plain'))
    const last = plainGops(maker, SECOND, 2)
    const start = joinPackets(first)
    const rest = joinPackets([...headless, ...last])
    const noise = new Uint8Array(300)
    const { index } = await play(Buffer.concat([start, rest, noise, rest.subarray(-752), noise]))
    const { limitations = [] } = index
    expect(limitations).toMatchObject([
      { code: 'gap', jumpSeconds: -102 },
      { code: 'frames-undecodable' },
      { code: 'corrupt', lengthBytes: 300 },
      { code: 'corrupt', lengthBytes: 300 },
    ])
    const noiseAt = start.length + rest.length
    expect(limitations.map(({ offsetBytes }) => offsetBytes)).toEqual([
      start.length,
      start.length,
      noiseAt,
      noiseAt + 1052,
    ])
    expect(limitations.map(({ seconds }) => seconds?.toFixed(1))).toEqual([
      '1.0',
      '1.0',
      '3.0',
      '3.0',
    ])
    const truncated = await indexOf(bytesFile(start.subarray(0, -100)))
    expect(truncated.limitations).toEqual([
      {
        code: 'truncated',
        unit: 'packet',
        offsetBytes: start.length - 188,
      },
    ])
    expect((await indexOf(bytesFile(start))).limitations).toBeUndefined()
  })

  it('include listed streams that never come', async () => {
    const maker = createTsMaker()
    const gops = [1, 2].flatMap((i) => gop(maker, i * SECOND))
    const frames = gops.flatMap(({ frame: videoFrame }) => videoFrame)
    const audioTracks = gops.flatMap(({ audio }) => audio)
    const silent = await playPackets(tables(maker), frames)
    expect(silent.index.limitations).toEqual([
      { code: 'audio-not-served', cause: { code: 'track-empty' } },
    ])
    const blind = await playPackets(tables(maker), audioTracks)
    expect(blind.index.limitations).toEqual([
      { code: 'video-not-served', cause: { code: 'track-empty' } },
    ])
  })
})

describe('audio alone', () => {
  it.each([
    [{ codecName: 'AAC', codec: 'mp4a.40.2' }, 0x0f, adtsFrames(47)] as const,
    [{ codecName: 'MP3', codec: 'mp4a.40.34' }, 0x03, mpegFrames(42, 3)] as const,
  ])('$codecName is split about every second', async (names, type, payload) => {
    const maker = createTsMaker()
    const packets = Array.from({ length: 5 }, (_, i) =>
      maker.pes(AUDIO_PID, { pts: i * SECOND }, payload),
    ).flat()
    const made = await playPackets(tables(maker, [{ type, pid: AUDIO_PID }]), packets)
    expect(made.index.tracks).toMatchObject([{ kind: 'audio', ...names, sampleRate: 48_000 }])
    expect(startSeconds(made)).toEqual([0, 1, 2, 3, 4])
    expect(durationSeconds(made.index)).toBeCloseTo(5, 1)
    expectEachPacketOnce(made, [AUDIO_PID])
    expect(await reader.readKeyFrame(bytesFile(made.bytes), made.index, 0)).toBeUndefined()
  })

  it('is served if a table lists video that never comes', async () => {
    const maker = createTsMaker()
    const audio = [0, 1, 2].flatMap((i) =>
      maker.pes(AUDIO_PID, { pts: i * SECOND }, adtsFrames(46)),
    )
    const { index } = await playPackets(tables(maker), audio)
    expect(index.tracks.map(({ kind }) => kind)).toEqual(['audio'])
    expect(index.splitPoints.startTicks.length).toBe(3)
  })
})

describe('unplayable recordings', () => {
  const audio = { pts: 0 }
  const cases: [UnplayableReason, (maker: TsMaker) => Uint8Array[]][] = [
    [{ code: 'program-tables-missing' }, (maker) => plainGops(maker, 0, 2)],
    [
      { code: 'key-frame-missing' },
      (maker) => [
        ...tables(maker),
        ...[0, 1]
          .flatMap((i) => gop(maker, i * SECOND, 'plain'))
          .flatMap(({ frame: videoFrame }) => videoFrame),
      ],
    ],
    [{ code: 'encrypted' }, (maker) => [...tables(maker), ...plainGops(maker, 0, 2).map(scramble)]],
    [
      { code: 'audio-config-invalid', codec: 'E-AC-3' },
      (maker) => [
        ...tables(maker, [{ type: 0x06, pid: AUDIO_PID, descriptors: [0x7a, 0] }]),
        ...maker.pes(AUDIO_PID, audio, new Uint8Array(900)),
      ],
    ],
    [
      { code: 'tracks-missing' },
      (maker) => [...tables(maker), ...Array.from({ length: 9 }, () => NULL_PACKET)],
    ],
  ]
  it.each(cases)('%o', async (reason, make) => {
    const bytes = joinPackets(make(createTsMaker()))
    await expect(indexOf(bytesFile(bytes))).rejects.toThrow(new UnplayableError(reason))
  })

  it('a segment fails if the file became shorter', async () => {
    const bytes = joinPackets(plainRecording(3))
    const index = await indexOf(bytesFile(bytes))
    const shorter = bytesFile(bytes.subarray(0, 4000))
    const reading = reader.readSegment(shorter, index, { from: 0, to: 1 })
    await expect(reading).rejects.toMatchObject({ code: 'failed' })
  })
})
