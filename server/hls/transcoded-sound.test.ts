import { afterAll, describe, expect, it } from 'vitest'
import { decodeWhole, encodeSound, makeMusic, makeSine } from '../../test/support/make-sound.ts'
import type { CodedSound, DecodedSound } from '../../test/support/make-sound.ts'
import { packetRecording } from '../../test/support/packet-recording.ts'
import type {
  PacketRecording,
  PacketRecordingOptions,
} from '../../test/support/packet-recording.ts'
import { audioSpecificConfig } from '../media/codec/audio-specific-config.ts'
import type { SampleRun } from '../media/media-reader.ts'
import { createSoundTranscoder } from '../sound/sound-transcoder.ts'
import { isTranscoded } from './recorded-sound.ts'
import { TranscodedSounds } from './transcoded-sound.ts'

const { signal } = new AbortController()
const transcoder = createSoundTranscoder()
const log = { warn: () => undefined }
afterAll(() => transcoder.close())

async function makeRun(recording: PacketRecording, from: number, to: number) {
  const [track] = recording.index.tracks
  if (track === undefined || !isTranscoded(track)) throw new Error('nothing to transcode')
  const sounds = new TranscodedSounds({ transcoder, log, signal })
  const request = { source: recording, track, number: 0, range: { from, to }, key: '' }
  return sounds.makeRun(request)
}

/** Every segment of so many cuts. */
async function makeRuns(recording: PacketRecording, cutsPerSegment: number): Promise<SampleRun[]> {
  const count = recording.index.cuts.startTicks.length
  const runs: SampleRun[] = []
  for (let from = 0; from < count; from += cutsPerSegment) {
    const run = await makeRun(recording, from, Math.min(count, from + cutsPerSegment))
    if (run !== undefined) runs.push(run)
  }
  return runs
}

function framesOf({ bytes = new Uint8Array(), sizes, firstDecodeTicks }: SampleRun) {
  let at = 0
  return [...sizes].map((size, number) => {
    const data = Buffer.from(bytes.subarray(at, at + size))
    at += size
    return { data, position: firstDecodeTicks + number * 1024 }
  })
}

/** What a player hears of the segments, one behind the other. */
function listen(runs: readonly SampleRun[], output: { sampleRate: number; channels: 1 | 2 }) {
  const config = audioSpecificConfig(output)
  return decodeWhole(
    {
      format: { ...output, ...(config && { extradata: config }) },
      packets: runs.flatMap(framesOf),
    },
    { decoder: 'aac', channels: output.channels },
  )
}

/** Energy of the difference, in decibels below the source's, of samples `from` to `to` since time 0. */
function noiseBelow(source: DecodedSound, heard: DecodedSound, [from, to]: [number, number]) {
  let signalEnergy = 1e-9
  let noise = 1e-12
  source.samples.forEach((plane, channel) => {
    for (let at = from; at < to; at += 1) {
      const wanted = plane[at - source.start] ?? 0
      signalEnergy += wanted ** 2
      noise += (wanted - (heard.samples[channel]?.[at - heard.start] ?? 0)) ** 2
    }
  })
  return 10 * Math.log10(signalEnergy / noise)
}

const CODECS = ['mp3', 'ac3', 'eac3', 'mp2', 'vorbis', 'dts', 'pcm_s16le', 'pcm_alaw'] as const
const STEREO = { sampleRate: 48_000, channels: 2 } as const
const decoderOf = (codec: string) => (codec === 'dts' ? 'dca' : codec)
const EXACT: PacketRecordingOptions = { timescale: 48_000, output: STEREO, cutSeconds: 1 }

function referenceOf(sound: CodedSound): DecodedSound {
  return decodeWhole(sound, { decoder: decoderOf(sound.format.codec), channels: 2 })
}

describe('TranscodedSounds', () => {
  it.each(CODECS)('%s: segments join as if they had been encoded as one', async (codec) => {
    const sound = encodeSound(codec, makeMusic(9, 48_000), 48_000)
    const recording = packetRecording(sound, EXACT)
    const runs = await makeRuns(recording, 2)
    const [whole] = await makeRuns(recording, 100)
    const frames = runs.flatMap(framesOf)
    const wholeFrames = whole === undefined ? [] : framesOf(whole)
    expect(frames.map(({ position }) => position)).toEqual(
      wholeFrames.map(({ position }) => position),
    )
    const differing = frames.filter(
      ({ data }, at) => !data.equals(wholeFrames[at]?.data ?? data.subarray(1)),
    )
    console.log(
      codec,
      frames.length,
      'differ',
      differing.map(({ position }) => position / 1024),
      'joins',
      runs.map((run) => run.firstDecodeTicks / 1024),
    )
    const reference = referenceOf(sound)
    const heard = listen(runs, STEREO)
    console.log(
      'snr',
      noiseBelow(reference, heard, [4800, 8 * 48_000]),
      'joins',
      runs
        .slice(1)
        .map(({ firstDecodeTicks: at }) =>
          noiseBelow(reference, heard, [at - 1024, at + 1024]).toFixed(1),
        )
        .join(' '),
      'start',
      reference.start,
      heard.start,
    )
  })
})
