// Soft chords for the demo library: one generated loop per streamer, encoded as AAC. Runs in the
// demo process.
import { AV_CHANNEL_LAYOUT_MONO, AV_SAMPLE_FMT_FLTP, FF_ENCODER_AAC } from 'node-av/constants'
import { Frame, Rational } from 'node-av/lib'
import type { CodecContext } from 'node-av/lib'
import { TURN } from './canvas.ts'
import { encodeFrame, openEncoder } from './encoder.ts'
import type { CodedFrame } from './encoder.ts'
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

/** One loop as AAC frames, and the encoder, which describes it to a muxer. */
export interface MusicLoop {
  encoder: CodecContext
  frames: CodedFrame[]
}

/** Composes and encodes the loop of a seed. */
export function encodeMusic(seed: number): MusicLoop {
  const format = { sampleRate: SAMPLE_RATE, channelLayout: AV_CHANNEL_LAYOUT_MONO }
  const encoder = openEncoder(
    FF_ENCODER_AAC,
    {
      ...format,
      sampleFormat: AV_SAMPLE_FMT_FLTP,
      bitRate: BIT_RATE,
      timeBase: new Rational(1, SAMPLE_RATE),
    },
    // The fast search: the default takes several times as long for such plain tones.
    { aac_coder: 'fast' },
  )
  const samples = Buffer.from(composeLoop(seed).buffer)
  const frames: CodedFrame[] = []
  // Two rounds: the second starts with the encoder state that every later round starts with.
  for (let number = 0; number < LOOP_FRAMES * 2 + 1; number++) {
    const at = (number % LOOP_FRAMES) * AUDIO_FRAME_SAMPLES * 4
    using frame = Frame.fromAudioBuffer(samples.subarray(at, at + AUDIO_FRAME_SAMPLES * 4), {
      ...format,
      nbSamples: AUDIO_FRAME_SAMPLES,
      format: AV_SAMPLE_FMT_FLTP,
    })
    frame.pts = BigInt(number * AUDIO_FRAME_SAMPLES)
    frames.push(...encodeFrame(encoder, frame))
  }
  return { encoder, frames: frames.slice(LOOP_FRAMES, LOOP_FRAMES * 2) }
}

/** Chords that swell and fade, with a plucked note on every beat. */
function composeLoop(seed: number): Float32Array {
  const random = createRandom(seed)
  const root = 196 * 2 ** (Math.floor(random() * 12) / 12)
  const progression = PROGRESSIONS[Math.floor(random() * PROGRESSIONS.length)] ?? [0]
  const samples = new Float32Array(LOOP_SAMPLES)
  const length = LOOP_SAMPLES / CHORDS
  const beats = 4 * (1 + Math.floor(random() * 2))
  for (const [chord, degree] of progression.entries()) {
    const part = samples.subarray(chord * length, (chord + 1) * length)
    for (const third of [0, 2, 4]) {
      // Swells and fades to silence.
      addTone(part, (root * pitch(degree + third)) / 2, (at, angle) => {
        const swell = Math.sin((at / length) * Math.PI)
        return (Math.sin(angle) + 0.3 * Math.sin(2 * angle)) * swell * 0.1
      })
    }
    for (let beat = 0; beat < beats; beat++) {
      const rest = part.subarray(Math.floor((beat * length) / beats))
      const pluck = rest.subarray(0, SAMPLE_RATE / 2)
      const note = root * 2 * pitch(degree + (ARPEGGIO[Math.floor(random() * 4)] ?? 0))
      addTone(pluck, note, (at, angle) => {
        const fade = (1 - at / pluck.length) ** 3 * Math.min(1, at / 200)
        return Math.sin(angle) * fade * 0.12
      })
    }
  }
  return samples
}

/** Frequency ratio of a scale degree. */
function pitch(degree: number): number {
  const octave = Math.floor(degree / SCALE.length)
  return 2 ** (octave + (SCALE[degree % SCALE.length] ?? 0) / 12)
}

function addTone(
  samples: Float32Array,
  frequency: number,
  toneAt: (at: number, angle: number) => number,
): void {
  const step = (frequency / SAMPLE_RATE) * TURN
  samples.forEach((sample, at) => (samples[at] = sample + toneAt(at, at * step)))
}
