// The encoder of renditions of an open library, and the cache of what it encodes.
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { EncodeSlots } from '../base/admission/encode-slots.ts'
import { OwnEncodeSlots } from '../base/admission/encode-slots.ts'
import { decoderVersion } from '../decode/child/decoder-package.ts'
import type { Config } from '../base/config/load-config.ts'
import type { Sandbox } from '../decode/child/sandbox.ts'
import { createVideoEncoder } from '../decode/video/video-encoder.ts'
import type { VideoEncoder } from '../decode/video/video-encoder.ts'
import { ClaimedCache } from '../storage/artifacts/claimed-cache.ts'
import type { SharedArtifacts } from '../storage/artifacts/shared-artifacts.ts'
import { LimitedFolder } from '../storage/artifacts/limited-folder.ts'
import { HEIGHTS } from '../stream/hls/playlist/segment-names.ts'
import { EncodedVideo } from '../stream/hls/segment/encoded-video.ts'
import { unpackFrames } from '../stream/hls/segment/video-artifact.ts'

/** About 20 hours of 480p. */
const MAX_CACHE_BYTES = 8 * 1024 ** 3
/** In the name of shared segments: increment it when their format changes. */
const ARTIFACT_KIND = 'video-1'

export interface EncodedVideoParts {
  config: Config
  artifacts?: SharedArtifacts | undefined
  /** Shared with other processes. Default those of this process. */
  encodeSlots?: EncodeSlots | undefined
  logger: Logger
  /** Undefined where the package with the encoder is not installed. */
  sandbox: Sandbox | undefined
  signal: AbortSignal
}

export interface OpenEncodedVideo {
  encoder: VideoEncoder
  encodedVideo: EncodedVideo
}

/** Undefined without renditions in the configuration. The caller closes the encoder. */
export function openEncodedVideo(parts: EncodedVideoParts): OpenEncodedVideo | undefined {
  const { config, artifacts, encodeSlots, logger, sandbox, signal } = parts
  const { video, concurrency } = config.renditions
  if (video.length === 0 || sandbox === undefined) return undefined
  const folder = join(config.data, 'renditions')
  const encoder = createVideoEncoder({ concurrency, log: logger, sandbox })
  const encodedVideo = new EncodedVideo({
    encoder,
    heights: HEIGHTS.filter((height) => video.includes(`${height}p`)),
    slots: encodeSlots ?? new OwnEncodeSlots({ concurrency }),
    cache: new ClaimedCache({
      cache: new LimitedFolder({ folder, maxBytes: MAX_CACHE_BYTES }),
      shared: artifacts,
      log: logger,
      kind: ARTIFACT_KIND,
      extension: 'h264',
      isIntact: (bytes) => unpackFrames(bytes) !== undefined,
    }),
    encoderVersion: decoderVersion(),
    log: logger,
    signal,
  })
  return { encoder, encodedVideo }
}
