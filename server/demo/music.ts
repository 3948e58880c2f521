// Soft chords for the demo library: one generated loop per streamer, encoded as AAC. Runs in the
// demo process.
import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_SAMPLE_FMT_FLTP,
  FF_ENCODER_AAC,
} from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Packet, Rational } from 'node-av/lib'
import type { CodecParameters } from 'node-av/lib'
import { TURN } from './canvas.ts'
import { createRandom } from './random.ts'

export const SAMPLE_RATE = 44_100
/** Samples in one AAC frame. */
export const AUDIO_FRAME_SAMPLES = 1024
const BIT_RATE = 48_000n
/** About eight seconds, in whole AAC frames, so that the loop is seamless. */
const LOOP_FRAMES = 344
const LOOP_SAMPLES = LOOP_FRAMES * AUDIO_FRAME_SAMPLES
const CHORDS = 4
/** Steps of a major scale in semitones, and progressions over it. */
const SCALE = [0, 2, 4, 5, 7, 9, 11]
/** Plucked notes of a chord, as scale degrees. */
const ARPEGGIO = [0, 2, 4, 7]
const PROGRESSIONS = [
  [0, 4, 5, 3],
  [5, 3, 0, 4],
  [1, 4, 0, 5],
  [0, 2, 3, 4],
]

/** One loop as AAC frames, with what a muxer needs. */
export interface MusicLoop {
  frames: Uint8Array[]
  describe(parameters: CodecParameters): void
}

/** Composes and encodes the loop of a seed. */
export function encodeMusic(seed: number): MusicLoop {
  const context = openEncoder()
  const samples = composeLoop(seed)
  const frames: Uint8Array[] = []
  // Two rounds: the second starts with the encoder state that every later round starts with.
  for (let number = 0; number < LOOP_FRAMES * 2 + 1; number++) {
    const at = (number % LOOP_FRAMES) * AUDIO_FRAME_SAMPLES
    using frame = Frame.fromAudioBuffer(
      Buffer.from(samples.buffer, at * 4, AUDIO_FRAME_SAMPLES * 4),
      {
        nbSamples: AUDIO_FRAME_SAMPLES,
        format: AV_SAMPLE_FMT_FLTP,
        sampleRate: SAMPLE_RATE,
        channelLayout: AV_CHANNEL_LAYOUT_MONO,
      },
    )
    frame.pts = BigInt(number * AUDIO_FRAME_SAMPLES)
    FFmpegError.throwIfError(context.sendFrameSync(frame), 'encode audio')
    frames.push(...receiveFrames(context))
  }
  return {
    frames: frames.slice(LOOP_FRAMES, LOOP_FRAMES * 2),
    describe: (parameters) =>
      FFmpegError.throwIfError(context.parametersFromContext(parameters), 'describe audio'),
  }
}

function openEncoder(): CodecContext {
  const codec = Codec.findEncoderByName(FF_ENCODER_AAC)
  if (codec === null) throw new Error('no AAC encoder')
  const context = new CodecContext()
  context.allocContext3(codec)
  context.sampleRate = SAMPLE_RATE
  context.sampleFormat = AV_SAMPLE_FMT_FLTP
  context.channelLayout = AV_CHANNEL_LAYOUT_MONO
  context.bitRate = BIT_RATE
  context.timeBase = new Rational(1, SAMPLE_RATE)
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
  // The fast search: the default takes several times as long for such plain tones.
  FFmpegError.throwIfError(context.setOption('aac_coder', 'fast'), 'aac_coder')
  FFmpegError.throwIfError(context.open2Sync(codec, null), 'open AAC encoder')
  return context
}

function receiveFrames(context: CodecContext): Uint8Array[] {
  const frames: Uint8Array[] = []
  using packet = new Packet()
  packet.alloc()
  while (context.receivePacketSync(packet) >= 0) {
    frames.push(Uint8Array.from(packet.data ?? []))
    packet.unref()
  }
  return frames
}

/** Chords that swell and fade, with a plucked note on every beat. */
function composeLoop(seed: number): Float32Array {
  const random = createRandom(seed)
  const root = 196 * 2 ** (Math.floor(random() * 12) / 12)
  const progression = PROGRESSIONS[Math.floor(random() * PROGRESSIONS.length)] ?? [0]
  const samples = new Float32Array(LOOP_SAMPLES)
  const length = LOOP_SAMPLES / CHORDS
  const beats = 4 * (1 + Math.floor(random() * 2))
  for (let chord = 0; chord < CHORDS; chord++) {
    const degree = progression[chord] ?? 0
    const start = chord * length
    for (const third of [0, 2, 4]) {
      const frequency = root * pitch(degree + third)
      addPad(samples.subarray(start, start + length), frequency / 2, 0.1)
    }
    for (let beat = 0; beat < beats; beat++) {
      const from = start + Math.floor((beat * length) / beats)
      const note = root * 2 * pitch(degree + (ARPEGGIO[Math.floor(random() * 4)] ?? 0))
      addPluck(samples.subarray(from, start + length), note, 0.12)
    }
  }
  return samples
}

/** Frequency ratio of a scale degree. */
function pitch(degree: number): number {
  const octave = Math.floor(degree / SCALE.length)
  return 2 ** (octave + (SCALE[degree % SCALE.length] ?? 0) / 12)
}

/** A tone that swells and fades to silence. */
function addPad(samples: Float32Array, frequency: number, level: number): void {
  const step = (frequency / SAMPLE_RATE) * TURN
  for (let at = 0; at < samples.length; at++) {
    const swell = Math.sin((at / samples.length) * Math.PI)
    const tone = Math.sin(at * step) + 0.3 * Math.sin(at * step * 2)
    samples[at] = (samples[at] ?? 0) + tone * swell * level
  }
}

/** A tone that fades within half a second. */
function addPluck(samples: Float32Array, frequency: number, level: number): void {
  const step = (frequency / SAMPLE_RATE) * TURN
  const length = Math.min(samples.length, SAMPLE_RATE / 2)
  for (let at = 0; at < length; at++) {
    const fade = (1 - at / length) ** 3 * Math.min(1, at / 200)
    samples[at] = (samples[at] ?? 0) + Math.sin(at * step) * fade * level
  }
}
