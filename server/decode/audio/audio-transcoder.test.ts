import { afterAll, describe, expect, it } from 'vitest'
import { encodeAudio, makeMusic } from '../../../test/support/make/make-audio.ts'
import type { CodedAudio } from '../../../test/support/make/make-audio.ts'
import type { AudioFormat } from '../../media/codec/audio-codecs.ts'
import type { AudioJob } from './audio-job.ts'
import { createAudioTranscoder } from './audio-transcoder.ts'
import { patientDecoder } from '../../../test/support/patience.ts'

const RATE = 48_000
const { signal } = new AbortController()
const transcoder = createAudioTranscoder({ limits: patientDecoder })
afterAll(() => transcoder.close())

function jobOf({ format, packets }: CodedAudio): AudioJob {
  return {
    format,
    output: { sampleRate: RATE, channels: 2 },
    packets: {
      bytes: Buffer.concat(packets.map(({ data }) => data)),
      sizes: Uint32Array.from(packets, ({ data }) => data.length),
      ticks: Float64Array.from(packets, ({ position }) => position),
      timescale: RATE,
    },
    leadInPackets: 0,
    end: 'open',
    fromFrame: 0,
    toFrame: 40,
  }
}

const ENCODABLE = ['mp3', 'mp2', 'ac3', 'eac3', 'dts', 'vorbis', 'pcm_s16le', 'pcm_alaw'] as const
const audioTracks = new Map(
  ENCODABLE.map((codec) => [codec, encodeAudio(codec, makeMusic(1, RATE), RATE)]),
)

function audioOf(codec: (typeof ENCODABLE)[number]): CodedAudio {
  const audio = audioTracks.get(codec)
  if (audio === undefined) throw new Error(`no ${codec}`)
  return audio
}

/** Repeatable numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('createSoundTranscoder', () => {
  it('returns every requested frame', async () => {
    const answer = await transcoder.transcode(jobOf(audioOf('mp3')), signal)
    if (answer.status !== 'done') throw new Error(answer.reason)
    expect(answer.value.sizes).toHaveLength(40)
    expect(answer.value.sizes.reduce((sum, size) => sum + size)).toBe(answer.value.bytes.length)
  })

  it.each(ENCODABLE)('%s: corrupt packets never end the process', async (codec) => {
    const { format, packets } = audioOf(codec)
    const random = createRandom(7)
    for (let round = 0; round < 25; round += 1) {
      const damaged = packets.map(({ data, position }) => {
        const copy = Buffer.from(data)
        for (let hit = 0; hit < 6; hit += 1)
          copy[Math.floor(random() * copy.length)] = random() * 256
        const length = random() < 0.2 ? Math.floor(random() * copy.length) : copy.length
        return { data: copy.subarray(0, length), position }
      })
      const answer = await transcoder.transcode(jobOf({ format, packets: damaged }), signal)
      expect(answer.status).not.toBe('killed')
    }
  })

  it('noise labelled as any codec never ends the process', async () => {
    const random = createRandom(11)
    const noise = (length: number) => Uint8Array.from({ length }, () => random() * 256)
    const codecs: AudioFormat['codec'][] = [
      ...ENCODABLE,
      'truehd',
      'aac_latm',
      'pcm_s24be',
      'pcm_u8',
    ]
    for (const codec of codecs) {
      for (const extradata of [undefined, noise(40)]) {
        const packets = Array.from({ length: 30 }, (_, at) => ({
          data: Buffer.from(noise(Math.floor(random() * 2000))),
          position: at * 1024,
        }))
        const format = { codec, channels: 2, sampleRate: RATE, ...(extradata && { extradata }) }
        const answer = await transcoder.transcode(jobOf({ format, packets }), signal)
        expect(answer.status, codec).not.toBe('killed')
      }
    }
  })

  it.each([
    ['channels', { channels: 0 }],
    ['channels', { channels: 255 }],
    ['rate', { sampleRate: 0 }],
    ['rate', { sampleRate: 2 ** 31 - 1 }],
  ])('refuses implausible %s, or returns silence', async (_, wrong) => {
    for (const codec of ['mp3', 'pcm_s16le'] as const) {
      const { format, packets } = audioOf(codec)
      const answer = await transcoder.transcode(
        jobOf({ format: { ...format, ...wrong }, packets }),
        signal,
      )
      expect(answer.status).not.toBe('killed')
    }
  })

  it('takes neither time nor memory for implausible times', async () => {
    for (const ticks of [0, -1, 2 ** 40, 2 ** 52, Number.NaN]) {
      const job = jobOf(audioOf('mp3'))
      const wild = job.packets.ticks.map((value, packet) => (packet % 2 === 0 ? ticks : value))
      const answer = await transcoder.transcode(
        { ...job, packets: { ...job.packets, ticks: wild } },
        signal,
      )
      expect(answer.status).toBe('done')
    }
  })

  it('refuses an oversized segment before sending it', async () => {
    const job = jobOf(audioOf('mp3'))
    expect(await transcoder.transcode({ ...job, toFrame: 1e9 }, signal)).toMatchObject({
      status: 'undecodable',
    })
  })
})
