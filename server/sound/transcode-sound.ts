// Makes a piece of recorded sound AAC: decoded, placed on the session's timeline, laid on the grid, encoded. Runs in the sound's own process.
import { decodeSound } from './decode-sound.ts'
import { encodeAac } from './encode-aac.ts'
import { placeSound } from './place-sound.ts'
import { renderSound } from './render-sound.ts'
import { silentFrame } from './silent-frame.ts'
import { FRAME_SAMPLES, LOOK_AHEAD_FRAMES } from './sound-job.ts'
import type { SoundFrames, SoundJob } from './sound-job.ts'

/** The encoder hears so many frames before the first wanted one, so that it has forgotten where it began. */
const PRE_ROLL_FRAMES = 14

/** The wanted frames. Throws where decoder or encoder do not open. */
export function transcodeSound(job: SoundJob): SoundFrames {
  const { output, fromFrame, toFrame } = job
  const firstFrame = fromFrame - PRE_ROLL_FRAMES
  const channels = renderSound(placeSound(decodeSound(job), job), {
    ...output,
    from: firstFrame * FRAME_SAMPLES,
    to: (toFrame + LOOK_AHEAD_FRAMES) * FRAME_SAMPLES,
  })
  const encoded = encodeAac({ channels, firstFrame }, output)
  const frames = Array.from(
    { length: toFrame - fromFrame },
    (_, at) => encoded.get(fromFrame + at) ?? silentFrame(output.channels),
  )
  return { bytes: Buffer.concat(frames), sizes: Uint32Array.from(frames, ({ length }) => length) }
}
