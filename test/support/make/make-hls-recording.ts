// Makes an indexed recording available as HLS, without a library or a catalog.
import { createAdmission } from '../../../server/base/admission/limits.ts'
import type { AudioTranscoder } from '../../../server/decode/audio/audio-transcoder.ts'
import type { SegmentPlan } from '../../../server/stream/hls/playlist/segment-plan.ts'
import type { EncodedVideo } from '../../../server/stream/hls/segment/encoded-video.ts'
import { createSegmentBodies } from '../../../server/stream/hls/segment/segment-bodies.ts'
import { TranscodedAudio } from '../../../server/stream/hls/segment/transcoded-audio.ts'
import { HlsRecording } from '../../../server/stream/hls/session/hls-recording.ts'
import type { MediaIndex } from '../../../server/media/media-index.ts'
import type { MediaReader } from '../../../server/media/media-reader.ts'
import type { OpenFile } from '../../../server/storage/recordings/storage.ts'
import { patienceMs } from '../patience.ts'

export interface IndexedRecording {
  file: OpenFile
  index: MediaIndex
  reader: MediaReader
}

export interface HlsRecordingOptions {
  plan: SegmentPlan
  segmentSeconds: number
  /** Without one, audio that browsers cannot play is silent. */
  transcoder?: AudioTranscoder | undefined
  /** Default nothing is encoded. */
  encodedVideo?: EncodedVideo
  /** Default `none`. */
  encryption?: 'aes-128' | 'none'
}

/** With caches of its own. The caller closes the transcoder. */
export function makeHlsRecording(
  { file, index, reader }: IndexedRecording,
  { plan, segmentSeconds, transcoder, encodedVideo, encryption = 'none' }: HlsRecordingOptions,
): HlsRecording {
  return new HlsRecording(
    {
      session: { streamer: 'alice', date: '2026-01-31', sessionId: '1' },
      identity: 'made',
      stat: file.stat,
      plan,
      index,
      reader,
    },
    { segmentSeconds, startSegmentSeconds: segmentSeconds, encryption, secret: 'secret' },
    {
      bodies: createSegmentBodies(),
      transcodedAudio: new TranscodedAudio({
        transcoder,
        admission: createAdmission(),
        log: { warn: () => undefined },
        waitMs: patienceMs,
        signal: new AbortController().signal,
      }),
      encodedVideo,
    },
  )
}
