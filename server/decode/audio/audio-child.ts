// The process that transcodes audio, started by audio-transcoder.ts: decodes, aligns, resamples and
// encodes a segment.
import { silenceCodecs } from '../child/open-codec.ts'
import { serveJobs } from '../child/serve-jobs.ts'
import { decodeAudio } from './decode-audio.ts'
import { encodeAac } from './encode-aac.ts'
import { placeAudio } from './align-audio.ts'
import { renderAudio } from './resample-audio.ts'
import { silentFrame } from './silent-frame.ts'
import { FRAME_SAMPLES, LOOK_AHEAD_FRAMES } from './audio-job.ts'
import type { AudioFrames, AudioJob } from './audio-job.ts'

silenceCodecs()
serveJobs(process, transcodeAudio)

/**
 * Frames encoded before the first requested one, until the encoder no longer depends on its start.
 */
const PRE_ROLL_FRAMES = 14

/** The requested frames. Throws if decoder or encoder do not open. */
function transcodeAudio(job: AudioJob): AudioFrames {
  const { output, fromFrame, toFrame } = job
  const firstFrame = fromFrame - PRE_ROLL_FRAMES
  const channels = renderAudio(placeAudio(decodeAudio(job), job), {
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
