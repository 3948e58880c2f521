// Samples from MPEG-TS in all layouts of muxers: split and shared packets, changes, and losses.
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
  VIDEO_PID,
} from '../../../test/support/make/make-ts.ts'
import type { StreamListing, TsMaker } from '../../../test/support/make/make-ts.ts'
import { listSamples, presentationSeconds } from '../../../test/support/verify/served-samples.ts'
import { groupedSplitPoints, everySplitPoint } from '../../../test/support/verify/ts-segments.ts'
import { SPLIT_DISCONTINUITY } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import { createTsReader } from './ts-reader.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const reader = createTsReader()
const SECOND = 90_000
const VIDEO_FRAME_TICKS = SECOND / 10
const FRAME_BYTES = 100
const OTHER_PID = 0x105
/** A second audio track makes the recording be served as fMP4. */
const STREAMS: StreamListing[] = [H264_STREAM, AAC_STREAM, { ...AAC_STREAM, pid: OTHER_PID }]

interface Play {
  index: MediaIndex
  /** Runs of every segment of one split point, and of two. */
  runs: SampleRun[][]
  inits: (Uint8Array | undefined)[]
}

async function play(packets: Uint8Array[], track: number): Promise<Play> {
  const file = bytesFile(joinPackets(packets))
  const index = await reader.index(file, AbortSignal.timeout(patienceMs))
  const runs: SampleRun[][] = []
  for (const ranges of [everySplitPoint(index), groupedSplitPoints(index, 2)]) {
    const found: SampleRun[] = []
    for (const range of ranges) {
      const content = await reader.readSegment(file, index, { ...range, tracks: [track] })
      if (content.kind !== 'samples') throw new Error('the segment is no fMP4')
      found.push(...content.runs)
    }
    runs.push(found)
  }
  const inits = everySplitPoint(index).map(({ from }) => {
    return reader.initTracks(index, from, [track])?.[0]?.sampleEntry
  })
  return { index, runs, inits }
}

/** Samples of runs in hex. */
function samplesOf(runs: SampleRun[]): string[] {
  return runs.flatMap(listSamples).map(({ bytes }) => Buffer.from(bytes).toString('hex'))
}

/** Times of samples in seconds. */
function timesOf(runs: SampleRun[]): number[] {
  return runs.flatMap(presentationSeconds).map((seconds) => Number(seconds.toFixed(4)))
}

/** Distinct frames; some contain bytes that look like the start of another. */
function differentFrames(count: number): Uint8Array {
  const frames = adtsFrames(count, FRAME_BYTES)
  for (let i = 0; i < count; i++) {
    frames.set([i >> 8, i & 0xff], i * FRAME_BYTES + 10)
    if (i % 3 === 0) frames.set([0xff, 0xf1, 0x4c, 0x80, 0x03, 0x1f, 0xfc], i * FRAME_BYTES + 50)
  }
  return frames
}

function rawFrames(frames: Uint8Array): string[] {
  return Array.from({ length: frames.length / FRAME_BYTES }, (_, i) => {
    const frame = frames.subarray(i * FRAME_BYTES + 7, (i + 1) * FRAME_BYTES)
    return Buffer.from(frame).toString('hex')
  })
}

interface Layout {
  frame?: (number: number) => Uint8Array[]
  /** Packets of audio beside a frame. */
  audio?: (number: number) => Uint8Array[]
  count?: number
}

/** Ten frames a second with a key frame a second, and the given audio beside each. */
function weave(maker: TsMaker, { frame, audio, count = 40 }: Layout): Uint8Array[] {
  const frameOf =
    frame ??
    ((number: number) =>
      maker.pes(
        VIDEO_PID,
        { pts: SECOND + number * VIDEO_FRAME_TICKS },
        h264Frame(number % 10 === 0 ? 'key' : 'plain', 300 + number),
      ))
  const packets = [...maker.pat(), ...maker.pmt(STREAMS)]
  for (let number = 0; number < count; number++) {
    const pts = SECOND + number * VIDEO_FRAME_TICKS
    const audioTracks = audio?.(number) ?? maker.pes(AUDIO_PID, { pts }, adtsFrames(4, FRAME_BYTES))
    const frames = frameOf(number)
    // A part of the audio follows the start of the frame.
    packets.push(...audioTracks.slice(0, 1), ...frames.slice(0, 1), ...audioTracks.slice(1))
    packets.push(...frames.slice(1))
    packets.push(...maker.pes(OTHER_PID, { pts }, adtsFrames(4, FRAME_BYTES)))
  }
  return packets
}

const FRAME_TICKS = (1024 * SECOND) / 48_000

describe('audio', () => {
  it.each([333, 777, 1000])(
    'whose frames span PES packets of %d bytes comes whole, each frame once',
    async (chunkBytes) => {
      const maker = createTsMaker()
      const frames = differentFrames(180)
      const audio = (number: number): Uint8Array[] => {
        const from = Math.floor((number * frames.length) / 40 / chunkBytes)
        const to = Math.floor(((number + 1) * frames.length) / 40 / chunkBytes)
        return Array.from({ length: to - from }, (_, i) => {
          const at = (from + i) * chunkBytes
          // The time of the first frame that begins in the packet (ISO/IEC 13818-1 2.4.3.7).
          const pts = SECOND + Math.round(Math.ceil(at / FRAME_BYTES) * FRAME_TICKS)
          return maker.pes(AUDIO_PID, { pts }, frames.subarray(at, at + chunkBytes))
        }).flat()
      }
      const { runs } = await play(weave(maker, { audio }), 1)
      const whole = Math.floor(frames.length / chunkBytes) * chunkBytes
      const expected = rawFrames(frames.subarray(0, whole - (whole % FRAME_BYTES)))
      for (const found of runs) {
        expect(samplesOf(found)).toEqual(expected)
        const times = timesOf(found)
        times.forEach((time, i) => expect(Math.abs(time - (i * 1024) / 48_000)).toBeLessThan(2e-4))
      }
    },
  )

  it('of another format begins a section with its own init segment', async () => {
    const maker = createTsMaker()
    const audio = (number: number): Uint8Array[] => {
      const frames = adtsFrames(4, FRAME_BYTES)
      // channel_configuration 1
      if (number >= 23) for (let i = 0; i < 4; i++) frames[i * FRAME_BYTES + 3] = 0x40
      return maker.pes(AUDIO_PID, { pts: SECOND + number * VIDEO_FRAME_TICKS }, frames)
    }
    const { index, runs, inits } = await play(weave(maker, { audio }), 1)
    expect(
      Array.from(index.splitPoints.flags, (flags) => (flags & SPLIT_DISCONTINUITY) !== 0),
    ).toEqual([false, false, false, true])
    expect(inits[0]).toEqual(inits[2])
    expect(inits[3]).not.toEqual(inits[0])
    // Frames between the change and the next key frame have no init segment and are left out.
    expect(samplesOf(runs[0] ?? []).length).toBe(4 * (40 - 8))
  })

  it('that jumps alone is left out until it returns', async () => {
    const maker = createTsMaker()
    const audio = (number: number): Uint8Array[] => {
      const isOff = number >= 12 && number < 18
      const pts = SECOND + number * VIDEO_FRAME_TICKS + (isOff ? 5000 * SECOND : 0)
      return maker.pes(AUDIO_PID, { pts }, adtsFrames(4, FRAME_BYTES))
    }
    const { runs } = await play(weave(maker, { audio }), 1)
    for (const found of runs) {
      const times = timesOf(found)
      expect(times.length).toBe(4 * 34)
      expect(Math.max(...times)).toBeLessThan(4)
    }
  })

  it('that is corrupt loses only the corrupt frames', async () => {
    const maker = createTsMaker()
    const audio = (number: number): Uint8Array[] => {
      const frames = adtsFrames(4, FRAME_BYTES)
      if (number === 15) frames.fill(0, 90, 210)
      return maker.pes(AUDIO_PID, { pts: SECOND + number * VIDEO_FRAME_TICKS }, frames)
    }
    const { runs } = await play(weave(maker, { audio }), 1)
    for (const found of runs) expect(samplesOf(found).length).toBe(160 - 2)
  })
})

/** ISO 639 language descriptor. */
function inLanguage(stream: StreamListing, language: string): StreamListing {
  return { ...stream, descriptors: [0x0a, 4, ...Buffer.from(language), 0] }
}

describe('audio in several languages', () => {
  const [eng, deu] = ['eng', 'deu'].map((language, i) => (pid: number) => ({
    listing: inLanguage({ ...AAC_STREAM, pid }, language),
    frames: adtsFrames(4, FRAME_BYTES + 10 * i),
    pid,
  }))

  /** Four seconds, each with its streams listed first. */
  function writeStory(seconds: ReturnType<NonNullable<typeof eng>>[][]): Uint8Array[] {
    const maker = createTsMaker()
    return seconds.flatMap((audioTracks, second) => [
      ...maker.pat(),
      ...maker.pmt([H264_STREAM, ...audioTracks.map(({ listing }) => listing)], {
        version: second,
      }),
      ...Array.from({ length: 10 }, (_, i) => {
        const pts = SECOND + second * SECOND + i * VIDEO_FRAME_TICKS
        const frame = h264Frame(i === 0 ? 'key' : 'plain', 200)
        return [
          ...maker.pes(VIDEO_PID, { pts }, frame),
          ...audioTracks.flatMap(({ pid, frames }) => maker.pes(pid, { pts }, frames)),
        ]
      }).flat(),
    ])
  }

  it('keeps its tracks when PIDs change, and when one is missing for a while', async () => {
    if (eng === undefined || deu === undefined) throw new Error('no languages')
    const story = [
      [eng(0x101), deu(0x102)],
      [deu(0x201), eng(0x202)],
      [deu(0x201)],
      [eng(0x101), deu(0x102)],
    ]
    const english = await play(writeStory(story), 1)
    const german = await play(writeStory(story), 2)
    const names = english.index.tracks.map((track) => 'language' in track && track.language)
    expect(names).toEqual([false, 'eng', 'deu'])
    expect(Array.from(english.index.splitPoints.flags)).toEqual([1, 3, 3, 3])
    expect(english.inits.map((init) => init !== undefined)).toEqual([true, true, false, true])
    expect(german.inits.map((init) => init !== undefined)).toEqual([true, true, true, true])
    expect(samplesOf(english.runs[0] ?? []).length).toBe(3 * 40)
    expect(samplesOf(german.runs[0] ?? []).length).toBe(4 * 40)
    const sizes = new Set(samplesOf(german.runs[0] ?? []).map(({ length }) => length / 2))
    expect([...sizes]).toEqual([FRAME_BYTES + 10 - 7])
  })
})

/** Payloads of the frames as samples: only slices, each with its length. */
function sliceSample(...slices: Uint8Array[]): string {
  return Buffer.concat(
    slices.flatMap((slice) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(slice.length)
      return [length, slice]
    }),
  ).toString('hex')
}

/** Writes the low 16 bits of the length of a PES packet, whose payload has `payloadBytes`. */
function withPesLength(packets: Uint8Array[], payloadBytes: number): Uint8Array[] {
  const [first = new Uint8Array(0)] = packets
  const header = Buffer.from(first.buffer, first.byteOffset, first.length)
  const pes = header.indexOf('000001e0', 0, 'hex')
  const optionalBytes = 3 + header.readUInt8(pes + 8)
  header.writeUInt16BE((optionalBytes + payloadBytes) % 0x1_00_00, pes + 4)
  return packets
}

const START = [0, 0, 1]

function plainSlice(number: number, place: 'first' | 'further'): Uint8Array {
  // first_mb_in_slice 0, or more
  return Uint8Array.of(0x41, place === 'first' ? 0x98 : 0x4c, 0x55, number, 0x77)
}

describe('video', () => {
  const stamps = (number: number) => ({ pts: SECOND + number * VIDEO_FRAME_TICKS })
  const key = (maker: TsMaker, number: number) =>
    maker.pes(VIDEO_PID, stamps(number), h264Frame('key', 200))
  const plainOf = (found: SampleRun[]) =>
    samplesOf(found).filter((_, i) => !found.flatMap(({ syncs }) => [...(syncs ?? [])])[i])

  it('with a PES packet per slice has one sample per frame', async () => {
    const maker = createTsMaker()
    const frame = (number: number): Uint8Array[] => {
      if (number % 10 === 0) return key(maker, number)
      return (['first', 'further', 'further'] as const).flatMap((place) =>
        maker.pes(VIDEO_PID, stamps(number), Uint8Array.of(...START, ...plainSlice(number, place))),
      )
    }
    const { runs } = await play(weave(maker, { frame }), 0)
    for (const found of runs) {
      expect(plainOf(found).length).toBe(36)
      expect(plainOf(found)[0]).toBe(
        sliceSample(plainSlice(1, 'first'), plainSlice(1, 'further'), plainSlice(1, 'further')),
      )
      expect(timesOf(found)).toEqual(Array.from({ length: 40 }, (_, i) => i / 10))
    }
  })

  it('with two frames in a PES packet has two samples, one frame apart', async () => {
    const maker = createTsMaker()
    const frame = (number: number): Uint8Array[] => {
      if (number % 10 === 0) return key(maker, number)
      if (number % 2 === 0) return []
      const slices = [number, number + 1].flatMap((n) => [...START, ...plainSlice(n, 'first')])
      const isLone = number % 10 === 9
      return maker.pes(VIDEO_PID, stamps(number), Uint8Array.from(slices.slice(0, isLone ? 8 : 16)))
    }
    const { runs } = await play(weave(maker, { frame }), 0)
    for (const found of runs) {
      expect(plainOf(found)[1]).toBe(sliceSample(plainSlice(2, 'first')))
      expect(timesOf(found)).toEqual(Array.from({ length: 40 }, (_, i) => i / 10))
    }
  })

  it.each([
    { name: 'overflows', bytes: 70_000, padding: 0 },
    { name: 'ends before padding', bytes: 200, padding: 20 },
  ])('whose PES length $name comes whole', async ({ bytes, padding }) => {
    const maker = createTsMaker()
    const frame = h264Frame('key', bytes)
    const frameOf = (number: number): Uint8Array[] => {
      if (number % 10 > 0) return maker.pes(VIDEO_PID, stamps(number), h264Frame('plain', 200))
      const padded = Buffer.concat([frame, Buffer.alloc(padding, 0xff)])
      return withPesLength(maker.pes(VIDEO_PID, stamps(number), padded), bytes)
    }
    const { runs } = await play(weave(maker, { frame: frameOf }), 0)
    const slice = frame.subarray(frame.indexOf(0x65))
    for (const found of runs) {
      expect(samplesOf(found)[0]).toBe(sliceSample(slice))
      expect(found.flatMap(({ syncs }) => [...(syncs ?? [])]).indexOf(1)).toBe(0)
      expect(samplesOf(found).length).toBe(40)
    }
  })

  it('keeps captions, and drops delimiters, filler and the known parameter sets', async () => {
    const maker = createTsMaker()
    const sei = Uint8Array.of(0x06, 0x04, 0x03, 0xb5, 0x00, 0x31, 0x80)
    const frame = (number: number): Uint8Array[] => {
      if (number % 10 === 0) return key(maker, number)
      const nals = [[0x09, 0xf0], [...sei], [0x0c, 0xff, 0x80], [...plainSlice(number, 'first')]]
      const bytes = nals.flatMap((nal) => [0, ...START, ...nal])
      return maker.pes(VIDEO_PID, stamps(number), Uint8Array.from([...bytes, 0, 0]))
    }
    const { runs, inits } = await play(weave(maker, { frame }), 0)
    expect(plainOf(runs[0] ?? [])[0]).toBe(sliceSample(sei, plainSlice(1, 'first')))
    // The key frame is only its slice: SPS and PPS are in the init segment.
    expect(samplesOf(runs[0] ?? [])[0]?.slice(8, 12)).toBe('6588')
    expect(Buffer.from(inits[0] ?? []).includes(Buffer.from('6764000b', 'hex'))).toBe(true)
  })

  it('with new parameter sets gets another init segment after a discontinuity', async () => {
    const maker = createTsMaker()
    const frame = (number: number): Uint8Array[] => {
      const kind = number % 10 > 0 ? 'plain' : number < 20 ? 'key' : 'other key'
      return maker.pes(VIDEO_PID, stamps(number), h264Frame(kind, 200))
    }
    const { index, inits } = await play(weave(maker, { frame }), 0)
    expect(Array.from(index.splitPoints.flags)).toEqual([1, 1, 3, 1])
    expect(inits[0]).toEqual(inits[1])
    expect(inits[2]).not.toEqual(inits[1])
    expect(inits[3]).toEqual(inits[2])
  })

  it('is decoded after a discontinuity no sooner than the end before it', async () => {
    const maker = createTsMaker()
    const frame = (number: number): Uint8Array[] => {
      const base = number < 20 ? SECOND : 500 * SECOND
      const dts = base + number * VIDEO_FRAME_TICKS
      const kind = number % 10 === 0 ? 'key' : 'plain'
      // After the discontinuity frames are shown three later than decoded, before it one.
      const late = number < 20 ? 1 : 3
      return maker.pes(
        VIDEO_PID,
        { pts: dts + late * VIDEO_FRAME_TICKS, dts },
        h264Frame(kind, 200),
      )
    }
    const { index, runs } = await play(weave(maker, { frame }), 0)
    expect(Array.from(index.splitPoints.flags)).toEqual([1, 1, 3, 1])
    for (const found of runs) {
      let end = 0
      for (const { firstDecodeTicks, durations, compositionOffsets } of found) {
        expect(firstDecodeTicks).toBeGreaterThanOrEqual(end)
        expect(Math.min(0, ...(compositionOffsets ?? []))).toBe(0)
        end = firstDecodeTicks + durations.reduce((sum, duration) => sum + duration, 0)
      }
    }
  })

  it('and audio are the same although no continuity counter changes', async () => {
    const packets = weave(createTsMaker(), {})
    const still = packets.map((packet) => packet.with(3, (packet[3] ?? 0) & 0xf0))
    for (const track of [0, 1]) {
      const [counted, uncounted] = [await play(packets, track), await play(still, track)]
      expect(uncounted.runs.map(samplesOf)).toEqual(counted.runs.map(samplesOf))
      expect(uncounted.runs.map(timesOf)).toEqual(counted.runs.map(timesOf))
    }
  })

  it('is not duplicated by packets that are sent twice', async () => {
    const maker = createTsMaker()
    // The first slice is not in the first packet, and frames of audio end in the next PES packet.
    const sei = Uint8Array.of(0, 0, 0, 1, 0x06, 4, 255, 45, ...new Uint8Array(300).fill(0x55), 0x80)
    const frame = (number: number) => {
      const bytes = h264Frame(number % 10 === 0 ? 'key' : 'plain', 300 + number)
      return maker.pes(VIDEO_PID, stamps(number), Buffer.concat([sei, bytes]))
    }
    const bytes = adtsFrames(4 * 41, 700)
    const audioStart = (number: number) => (number === 0 ? 0 : 4 * number * 700 + 60)
    for (let i = 0; i < 4 * 41; i += 1) bytes[i * 700 + 10] = i
    const audio = (number: number) =>
      maker.pes(
        AUDIO_PID,
        stamps(number),
        bytes.subarray(audioStart(number), audioStart(number + 1)),
      )
    const audioAlone = Array.from({ length: 40 }, (_, number) => [
      ...audio(number),
      ...maker.pes(OTHER_PID, stamps(number), adtsFrames(4, FRAME_BYTES)),
    ])
    const recordings = [
      weave(maker, { frame, audio }),
      [...maker.pat(), ...maker.pmt(STREAMS.slice(1)), ...audioAlone.flat()],
    ]
    for (const packets of recordings) {
      for (const step of [1, 3]) {
        const doubled = packets.flatMap((packet, i) =>
          i % step === 0 ? [packet, packet] : [packet],
        )
        for (const track of [0, 1]) {
          const [once, twice] = [await play(packets, track), await play(doubled, track)]
          expect(twice.index.splitPoints).toEqual(once.index.splitPoints)
          expect(twice.runs.map(samplesOf)).toEqual(once.runs.map(samplesOf))
          expect(twice.runs.map(timesOf)).toEqual(once.runs.map(timesOf))
        }
      }
    }
  })
})
