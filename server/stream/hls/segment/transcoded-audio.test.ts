import { afterAll, describe, expect, it, vi } from 'vitest'
import { clarity, lagOf } from '../../../../test/support/verify/compare-audio.ts'
import type { Span } from '../../../../test/support/verify/compare-audio.ts'
import {
  decodeWhole,
  encodeAudio,
  makeMusic,
  makeSine,
} from '../../../../test/support/make/make-audio.ts'
import type { CodedAudio, DecodedAudio } from '../../../../test/support/make/make-audio.ts'
import { listSamples } from '../../../../test/support/verify/served-samples.ts'
import { packetRecording } from '../../../../test/support/make/packet-recording.ts'
import type {
  PacketRecording,
  PacketRecordingOptions,
} from '../../../../test/support/make/packet-recording.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { FolderArtifacts } from '../../../storage/artifacts/folder-artifacts.ts'
import { SharedArtifacts } from '../../../storage/artifacts/shared-artifacts.ts'
import { audioSpecificConfig } from '../../../media/codec/audio-specific-config.ts'
import { SPLIT_DISCONTINUITY } from '../../../media/media-index.ts'
import type { SampleRun } from '../../../media/media-reader.ts'
import { Gate } from '../../../base/admission/gate.ts'
import { createAdmission } from '../../../base/admission/limits.ts'
import { createAudioTranscoder } from '../../../decode/audio/audio-transcoder.ts'
import type { AudioTranscoder } from '../../../decode/audio/audio-transcoder.ts'
import { isTranscoded } from './recorded-audio.ts'
import { transcodedInitTrack, TranscodedAudio } from './transcoded-audio.ts'
import { patienceMs, patientDecoder, soon } from '../../../../test/support/patience.ts'

const RATE = 48_000
const STEREO = { sampleRate: RATE, channels: 2 } as const
/** Packets with exact times, and a split point each second. */
const EXACT: PacketRecordingOptions = { timescale: RATE, output: STEREO, splitPointSeconds: 1 }
const CODECS = ['mp3', 'mp2', 'vorbis', 'dts', 'pcm_s16le', 'pcm_alaw', 'ac3', 'eac3'] as const

const { signal } = new AbortController()
const admission = createAdmission()
const transcoder = createAudioTranscoder({ limits: patientDecoder })
const warnings: string[] = []
const log = { warn: (_: object, message: string) => void warnings.push(message) }
afterAll(() => transcoder.close())

function newTranscodedAudio(): TranscodedAudio {
  return new TranscodedAudio({ transcoder, admission, log, signal, waitMs: patienceMs })
}

async function transcode(
  recording: PacketRecording,
  [from, to]: [from: number, to: number],
  transcoded = newTranscodedAudio(),
): Promise<SampleRun | undefined> {
  const [track] = recording.index.tracks
  if (track === undefined || !isTranscoded(track)) throw new Error('nothing to transcode')
  const key = `${from}-${to}`
  return transcoded.transcode({ source: recording, track, number: 0, range: { from, to }, key })
}

/** All segments, each with this number of split points. */
async function transcodeAll(
  recording: PacketRecording,
  splitPointsPerSegment: number,
): Promise<SampleRun[]> {
  const count = recording.index.splitPoints.startTicks.length
  const runs: SampleRun[] = []
  for (let from = 0; from < count; from += splitPointsPerSegment) {
    const run = await transcode(recording, [from, Math.min(count, from + splitPointsPerSegment)])
    if (run !== undefined) runs.push(run)
  }
  return runs
}

function framesOf(run: SampleRun) {
  return listSamples(run).map(({ bytes, decodeTicks: position }) => {
    return { data: Buffer.from(bytes), position }
  })
}

function positionsOf(runs: readonly SampleRun[]): number[] {
  return runs.flatMap((run) => framesOf(run).map(({ position }) => position))
}

/** The segments, decoded in sequence as a player does. */
function decode(runs: readonly SampleRun[], output: { sampleRate: number; channels: 1 | 2 }) {
  const extradata = audioSpecificConfig(output)
  const format = { ...output, ...(extradata && { extradata }) }
  const packets = runs.flatMap(framesOf)
  return decodeWhole({ format, packets }, { decoder: 'aac', channels: output.channels })
}

/** The source, decoded as a whole. */
function referenceOf(audio: CodedAudio, channels: 1 | 2 = 2): DecodedAudio {
  const { codec } = audio.format
  return decodeWhole(audio, { decoder: codec === 'dts' ? 'dca' : codec, channels })
}

/** The largest deviation from a pure tone, between two samples. */
function roughness({ samples, start }: DecodedAudio, hertz: number, { from, to }: Span): number {
  const turn = 2 * Math.cos((2 * Math.PI * hertz) / RATE)
  const [plane = new Float32Array()] = samples
  let worst = 0
  for (let at = from - start; at < to - start; at += 1) {
    const step = (plane[at + 1] ?? 0) - turn * (plane[at] ?? 0) + (plane[at - 1] ?? 0)
    worst = Math.max(worst, Math.abs(step))
  }
  return worst
}

function expectUnbroken(runs: readonly SampleRun[]): void {
  const positions = positionsOf(runs)
  expect(positions).toEqual(positions.map((_, at) => (positions[0] ?? 0) + at * 1024))
}

describe('boundaries of transcoded segments', () => {
  const music = makeMusic(9, RATE)

  it.each(CODECS)('%s: no more noise at a boundary than elsewhere, and in phase', async (codec) => {
    const audio = encodeAudio(codec, music, RATE)
    const runs = await transcodeAll(packetRecording(audio, EXACT), 2)
    expect(runs).toHaveLength(5)
    expectUnbroken(runs)
    const reference = referenceOf(audio)
    const decoded = decode(runs, STEREO)
    const at = (frame: number) =>
      clarity(reference, decoded, { from: frame * 1024, to: frame * 1024 + 2048 })
    const elsewhere = Array.from({ length: 360 }, (_, frame) => at(frame + 8))
    const joins = runs.slice(1).map(({ firstDecodeTicks }) => at(firstDecodeTicks / 1024 - 1))
    expect(Math.min(...joins)).toBeGreaterThanOrEqual(Math.min(...elsewhere))
    // A lag of a single sample would leave 25 dB.
    expect(clarity(reference, decoded, { from: 4800, to: 8 * RATE })).toBeGreaterThan(33)
  })

  it.each(['mp3', 'vorbis', 'pcm_s16le'] as const)(
    '%s: the frames are those of the whole encoded at once',
    async (codec) => {
      const recording = packetRecording(encodeAudio(codec, music, RATE), EXACT)
      const [whole] = await transcodeAll(recording, 100)
      const runs = await transcodeAll(recording, 2)
      expect(runs.flatMap(framesOf)).toEqual(whole && framesOf(whole))
    },
  )

  it('a long segment has the same audio as many short ones', async () => {
    const audio = encodeAudio('mp2', makeMusic(26, RATE), RATE)
    const recording = packetRecording(audio, EXACT)
    const [long] = await transcodeAll(recording, 100)
    expect(long && framesOf(long)).toEqual((await transcodeAll(recording, 5)).flatMap(framesOf))
  })

  it('the bytes do not depend on earlier requests', async () => {
    const recording = packetRecording(encodeAudio('ac3', music, RATE), EXACT)
    const first = await transcode(recording, [4, 6])
    await transcode(recording, [0, 2])
    expect(await transcode(recording, [4, 6])).toEqual(first)
  })
})

describe('times of transcoded audio', () => {
  it('timestamps in milliseconds cause no clicks', async () => {
    const audio = encodeAudio('mp3', makeSine(440, 9, 44_100), 44_100)
    const output = { sampleRate: 44_100, channels: 2 } as const
    const recording = packetRecording(audio, { ...EXACT, timescale: 1000, output })
    const runs = await transcodeAll(recording, 2)
    expectUnbroken(runs)
    const decoded = decode(runs, output)
    const [exact] = await transcodeAll(
      packetRecording(audio, { ...EXACT, output, timescale: 44_100 }),
      100,
    )
    const wanted = decode(exact ? [exact] : [], output)
    const hertz = (440 * RATE) / 44_100
    const span = { from: 8192, to: 8 * 44_100 }
    expect(roughness(decoded, hertz, span)).toBeLessThan(roughness(wanted, hertz, span) * 1.5)
    for (const from of [10_000, 100_000, 300_000]) {
      // 0.1 ms of this tone.
      expect(clarity(wanted, decoded, { from, to: from + 4800 })).toBeGreaterThan(10)
    }
  })

  it('a clock that drifts causes no clicks', async () => {
    const drift = 1.0005
    const options = { ...EXACT, warp: (seconds: number) => seconds * drift }
    const tone = encodeAudio('mp2', makeSine(440, 9, RATE), RATE)
    const runs = await transcodeAll(packetRecording(tone, options), 2)
    expectUnbroken(runs)
    const span = { from: 8192, to: 8 * RATE }
    const exact = decode(await transcodeAll(packetRecording(tone, EXACT), 2), STEREO)
    const worst = roughness(exact, 440, span)
    expect(roughness(decode(runs, STEREO), 440, span)).toBeLessThan(worst * 1.5)

    const audio = encodeAudio('mp2', makeMusic(9, RATE), RATE)
    const decoded = decode(await transcodeAll(packetRecording(audio, options), 2), STEREO)
    for (const seconds of [1, 4, 7]) {
      const lag = lagOf(referenceOf(audio), decoded, seconds * RATE)
      expect(Math.abs(lag - seconds * RATE * (drift - 1))).toBeLessThan(0.002 * RATE)
    }
  })

  it('a gap is silent, and the audio after it has its own time', async () => {
    const audio = encodeAudio('ac3', makeMusic(12, RATE), RATE)
    const gapFrom = 125 * 1536
    const warp = (seconds: number) => (seconds * RATE < gapFrom ? seconds : seconds + 4.5)
    const recording = packetRecording(audio, { ...EXACT, warp })
    const runs = await transcodeAll(recording, 3)
    expectUnbroken(runs)
    const decoded = decode(runs, STEREO)
    const reference = referenceOf(audio)
    const energy = (from: number, to: number) =>
      decoded.samples[0]?.subarray(from, to).reduce((sum, value) => sum + value ** 2, 0)
    expect(energy(gapFrom + 4096, gapFrom + 4.4 * RATE)).toBeLessThan(1e-3)
    expect(clarity(reference, decoded, { from: 8192, to: gapFrom - 4096 })).toBeGreaterThan(30)
    const behind = { from: gapFrom + 8192, to: 11 * RATE, lag: 4.5 * RATE }
    expect(clarity(reference, decoded, behind)).toBeGreaterThan(30)
  })

  it('a gap of hours is refused, whose silence would fill the memory', async () => {
    const { format, packets } = encodeAudio('mp3', makeMusic(2, RATE), RATE)
    const warp = (seconds: number) => (seconds < 1 ? seconds : seconds + 6 * 3600)
    const recording = packetRecording(
      { format, packets },
      { ...EXACT, warp, splitPointSeconds: 86_400 },
    )
    await expect(transcode(recording, [0, 1])).rejects.toMatchObject({
      reason: { code: 'limit-exceeded', limit: 'samples-between-key-frames' },
    })
  })

  it.each([0.3, -0.3, 0.8, 3])(
    'audio that is %d s after its video in the file is complete',
    async (lagSeconds) => {
      const audio = encodeAudio('mp3', makeMusic(12, RATE), RATE)
      const runs = await transcodeAll(packetRecording(audio, { ...EXACT, lagSeconds }), 2)
      expectUnbroken(runs)
      const span = { from: 8192, to: 8 * RATE }
      expect(clarity(referenceOf(audio), decode(runs, STEREO), span)).toBeGreaterThan(30)
    },
  )

  it('a segment does not change while the recording grows', async () => {
    const audio = encodeAudio('mp3', makeMusic(9, RATE), RATE)
    const lagSeconds = 0.2
    const whole = packetRecording(audio, { ...EXACT, lagSeconds })
    const packets = audio.packets.filter(({ position }) => position / RATE + lagSeconds < 5)
    const begun = packetRecording({ ...audio, packets }, { ...EXACT, lagSeconds })
    for (const range of [
      [0, 2],
      [2, 4],
    ] as const) {
      expect(await transcode(begun, [...range])).toEqual(await transcode(whole, [...range]))
    }
  })

  it('audio before a discontinuity has no effect after it', async () => {
    const audio = encodeAudio('mp2', makeMusic(6, RATE), RATE)
    const recording = packetRecording(audio, { ...EXACT, breaks: [3] })
    expect(recording.index.splitPoints.flags[3]).toBe(SPLIT_DISCONTINUITY)
    const runs = await transcodeAll(recording, 3)
    expectUnbroken(runs)
    expect(runs[1]?.firstDecodeTicks).toBe(Math.ceil((3 * RATE) / 1024) * 1024)
    const behind = audio.packets.filter(({ position }) => position >= 3 * RATE)
    const alone = packetRecording({ ...audio, packets: behind }, { ...EXACT, breaks: [3] })
    expect(await transcode(alone, [3, 6])).toEqual(runs[1])
  })
})

describe('formats of transcoded audio', () => {
  it.each([
    [32_000, 48_000],
    [22_050, 44_100],
    [8000, 48_000],
    [96_000, 48_000],
  ])('%d samples a second become %d', async (from, to) => {
    const audio = encodeAudio('pcm_s16le', makeSine(997, 5, from), from)
    const output = { sampleRate: to, channels: 2 } as const
    const recording = packetRecording(audio, { ...EXACT, timescale: from, output })
    const runs = await transcodeAll(recording, 2)
    expectUnbroken(runs)
    const wanted = { samples: makeSine(997, 5, to), start: 0 }
    const span = { from: 8192, to: 4 * to }
    expect(clarity(wanted, decode(runs, output), span)).toBeGreaterThan(40)
  })

  it('mono remains mono', async () => {
    const audio = encodeAudio('mp3', makeMusic(4, RATE).slice(0, 1), RATE)
    const output = { sampleRate: RATE, channels: 1 } as const
    const runs = await transcodeAll(packetRecording(audio, { ...EXACT, output }), 2)
    const span = { from: 8192, to: 3 * RATE }
    expect(clarity(referenceOf(audio, 1), decode(runs, output), span)).toBeGreaterThan(30)
  })

  it('six channels are downmixed to two', async () => {
    const [left, right] = makeMusic(4, RATE)
    if (left === undefined || right === undefined) throw new Error('no music')
    const quiet = left.map((value) => value / 4)
    const audio = encodeAudio('ac3', [left, right, quiet, quiet, quiet, quiet], RATE)
    const runs = await transcodeAll(packetRecording(audio, EXACT), 2)
    const span = { from: 8192, to: 3 * RATE }
    expect(clarity(referenceOf(audio), decode(runs, STEREO), span)).toBeGreaterThan(30)
  })

  it('PCM packets may have one sample', async () => {
    const audio = encodeAudio('pcm_s16le', makeMusic(3, RATE), RATE)
    const packets = audio.packets.flatMap(({ data, position }) =>
      Array.from({ length: 1024 }, (_, at) => ({
        data: data.subarray(at * 4, at * 4 + 4),
        position: position + at,
      })),
    )
    const runs = await transcodeAll(packetRecording({ ...audio, packets }, EXACT), 2)
    const span = { from: 8192, to: 2 * RATE }
    expect(clarity(referenceOf(audio), decode(runs, STEREO), span)).toBeGreaterThan(30)
  })

  it('the init segment declares AAC-LC with the sample rate', () => {
    const track = { kind: 'audio', codec: 'mp4a.40.2', codecName: 'MP3', ...STEREO } as const
    const { timescale, sampleEntry } = transcodedInitTrack(track)
    expect(timescale).toBe(RATE)
    expect(Buffer.from(sampleEntry).includes(Buffer.of(5, 2, 0x11, 0x90))).toBe(true)
  })
})

describe('audio that cannot be decoded', () => {
  const audio = encodeAudio('mp3', makeMusic(6, RATE), RATE)

  it('is silent where packets are corrupt, and complete elsewhere', async () => {
    const packets = audio.packets.map(({ data, position }) =>
      position > 2 * RATE && position < 4 * RATE
        ? { data: Buffer.alloc(data.length, 0x55), position }
        : { data, position },
    )
    const runs = await transcodeAll(packetRecording({ ...audio, packets }, EXACT), 2)
    expectUnbroken(runs)
    const decoded = decode(runs, STEREO)
    const reference = referenceOf(audio)
    expect(clarity(reference, decoded, { from: 8192, to: 1.9 * RATE })).toBeGreaterThan(30)
    expect(clarity(reference, decoded, { from: 4.3 * RATE, to: 5 * RATE })).toBeGreaterThan(30)
    const middle = decoded.samples[0]?.subarray(2.2 * RATE, 3.8 * RATE) ?? []
    expect(Math.max(...middle)).toBeLessThan(0.01)
  })

  it('is never replaced by silence if no process starts, and is logged once', async () => {
    const broken = createAudioTranscoder({ limits: { startMs: 1 } })
    const own = { transcoder: broken, admission, log, signal, waitMs: patienceMs }
    const transcoded = new TranscodedAudio(own)
    const recording = packetRecording(audio, EXACT)
    const before = warnings.length
    for (const from of [0, 2, 0])
      await expect(transcode(recording, [from, from + 2], transcoded)).rejects.toMatchObject({
        code: 'busy',
      })
    broken.close()
    expect(warnings.slice(before)).toEqual(['the transcoder is not available'])
  })

  it('is never replaced by silence if the decoder is killed; three tries', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    vi.advanceTimersByTime(1)
    let killed = 0
    let isBroken = true
    const failing: AudioTranscoder = {
      ...transcoder,
      async transcode(job, requested) {
        if (!isBroken) return transcoder.transcode(job, requested)
        killed += 1
        return { status: 'killed', reason: 'a fake' }
      },
    }
    const own = { transcoder: failing, admission, log, signal, waitMs: patienceMs }
    const transcoded = new TranscodedAudio(own)
    const recording = packetRecording(audio, EXACT)
    for (const _ of [1, 2, 3, 4, 5])
      await expect(transcode(recording, [0, 2], transcoded)).rejects.toMatchObject({ code: 'busy' })
    expect(killed).toBe(3)
    // A minute later it may have been the load.
    isBroken = false
    vi.advanceTimersByTime(60_001)
    const run = await transcode(recording, [0, 2], transcoded)
    vi.useRealTimers()
    expect(run).toEqual(await transcode(recording, [0, 2]))
  })

  it('is not read for a request that has waited too long, but for a later one', async () => {
    const full = createAdmission()
    const releases = await Promise.all([1, 2, 3].map(async () => full.transcodes.enter(signal)))
    const own = { transcoder, admission: full, log, signal }
    const impatient = new TranscodedAudio({ ...own, waitMs: 1 })
    const recording = packetRecording(audio, EXACT)
    const late = transcode(recording, [0, 2], impatient)
    await expect(late).rejects.toMatchObject({ code: 'busy' })
    await vi.waitFor(() => expect(full.transcodes.figures.waiting).toBe(0), soon)

    const transcoded = new TranscodedAudio({ ...own, waitMs: patienceMs })
    const [track] = recording.index.tracks
    if (track === undefined || !isTranscoded(track)) throw new Error('nothing to transcode')
    let isClosed = false
    const file: typeof recording.file = {
      ...recording.file,
      read: async (...args) => {
        if (isClosed) throw new Error('the file is closed')
        return recording.file.read(...args)
      },
    }
    const range = { from: 0, to: 2 }
    const request = { track, number: 0, range, key: 'shared' }
    const first = new AbortController()
    const abandoned = transcoded.transcode({
      ...request,
      source: { ...recording, file },
      signal: first.signal,
    })
    const kept = transcoded.transcode({ ...request, source: recording })
    await vi.waitFor(() => expect(full.transcodes.figures.waiting).toBe(1), soon)
    first.abort(new Error('disconnected'))
    await expect(abandoned).rejects.toThrow('disconnected')
    isClosed = true
    for (const release of releases) release()
    expect(await kept).toEqual(await transcode(recording, [0, 2]))
  })

  it('is the same on all nodes, and transcoded by one of them', async () => {
    const folder = makeTempFolder('audio')
    const node = (with_: AudioTranscoder): TranscodedAudio => {
      const artifacts = new SharedArtifacts({ store: new FolderArtifacts(folder), log })
      return new TranscodedAudio({
        transcoder: with_,
        admission,
        log,
        artifacts,
        signal,
        waitMs: patienceMs,
      })
    }
    const refusing: AudioTranscoder = {
      ...transcoder,
      transcode: async () => expect.unreachable('it was transcoded already'),
    }
    // As on another processor.
    const different: AudioTranscoder = {
      ...transcoder,
      async transcode(job, requested) {
        const result = await transcoder.transcode(job, requested)
        if (result.status !== 'done') return result
        const bytes = result.value.bytes.map((byte) => byte ^ 1)
        return { ...result, value: { ...result.value, bytes } }
      },
    }
    const recording = packetRecording(audio, EXACT)
    const first = await transcode(recording, [0, 2], node(transcoder))
    expect(await transcode(recording, [0, 2], node(refusing))).toEqual(first)
    // Two at once: the second result is that of the first.
    const both = await Promise.all(
      [transcoder, different].map((one) => transcode(recording, [2, 4], node(one))),
    )
    expect(both[1]).toEqual(both[0])
  })

  it('is not transcoded for requests that were abandoned in the queue', async () => {
    const jobs: PromiseWithResolvers<void>[] = []
    const queue = new Gate({ limit: 1, waiting: 10, busyMessage: 'busy' })
    const slow: AudioTranscoder = {
      figures: { running: 0, waiting: 0, finished: 0 },
      transcode: async (_job, abandoned) =>
        queue.run(async () => {
          const job = Promise.withResolvers<void>()
          jobs.push(job)
          await job.promise
          return { status: 'undecodable', reason: 'a fake' }
        }, abandoned),
      close: () => undefined,
    }
    const transcoded = new TranscodedAudio({
      transcoder: slow,
      admission,
      log,
      signal,
      waitMs: patienceMs,
    })
    const { index, ...recording } = packetRecording(audio, EXACT)
    const [track] = index.tracks
    if (track === undefined || !isTranscoded(track)) throw new Error('nothing to transcode')
    const source = { ...recording, index }
    const request = (from: number, requested?: AbortSignal) =>
      transcoded.transcode({
        source,
        track,
        number: 0,
        range: { from, to: from + 1 },
        key: `${from}`,
        signal: requested,
      })
    const first = request(0)
    await vi.waitFor(() => expect(jobs).toHaveLength(1), soon)
    const abandoned = new AbortController()
    const left = request(1, abandoned.signal)
    const kept = [request(2, abandoned.signal), request(2)]
    await vi.waitFor(() => expect(queue.figures.waiting).toBe(2), soon)
    abandoned.abort(new Error('disconnected'))
    await expect(left).rejects.toThrow('disconnected')
    await expect(kept[0]).rejects.toThrow('disconnected')
    await vi.waitFor(() => expect(queue.figures.waiting).toBe(1), soon)
    jobs[0]?.resolve()
    expect(await first).toBeDefined()
    await vi.waitFor(() => expect(jobs).toHaveLength(2), soon)
    jobs[1]?.resolve()
    expect(await kept[1]).toBeDefined()
    expect(admission.transcodes.figures).toMatchObject({ used: 0, waiting: 0 })
  })

  it('is transcoded once for concurrent requests, and cached', async () => {
    const transcoded = newTranscodedAudio()
    const recording = packetRecording(audio, EXACT)
    const [first, second] = await Promise.all([
      transcode(recording, [0, 2], transcoded),
      transcode(recording, [0, 2], transcoded),
    ])
    expect(second).toBe(first)
    expect(await transcode(recording, [0, 2], transcoded)).toBe(first)
  })
})
