// The encoder of renditions of an open library, and the cache of what it encodes.
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { EncodeSlots } from '../base/admission/encode-slots.ts'
import { OwnEncodeSlots } from '../base/admission/encode-slots.ts'
import { decoderVersion, hasDecoderPackage } from '../decode/child/decoder-package.ts'
import type { Config } from '../base/config/load-config.ts'
import type { Sandbox } from '../decode/child/sandbox.ts'
import { ENCODE_FORMAT } from '../decode/video/video-job.ts'
import { createVideoEncoder } from '../decode/video/video-encoder.ts'
import type { VideoEncoder } from '../decode/video/video-encoder.ts'
import { ClaimedCache } from '../storage/artifacts/claimed-cache.ts'
import type { SharedArtifacts } from '../storage/artifacts/shared-artifacts.ts'
import { LimitedFolder } from '../storage/artifacts/limited-folder.ts'
import { HEIGHTS } from '../stream/hls/playlist/segment-names.ts'
import { EncodedVideo } from '../stream/hls/segment/encoded-video.ts'
import type { EncodingNodes } from '../stream/hls/segment/encoded-video.ts'
import { unpackFormat, unpackFrames } from '../stream/hls/segment/video-artifact.ts'

/** About 20 hours of 480p. */
const MAX_CACHE_BYTES = 8 * 1024 ** 3
/** In the name of shared segments: increment it when their format changes. */
const ARTIFACT_KIND = 'video-1'
const FORMAT_KIND = 'video-format-1'

export interface EncodedVideoParts {
  config: Config
  artifacts?: SharedArtifacts | undefined
  /** Shared with other processes. Default those of this process. */
  encodeSlots?: EncodeSlots | undefined
  /** Default none: this node encodes. */
  encodingNodes?: EncodingNodes | undefined
  logger: Logger
  /** Undefined where the package with the encoder is not installed. */
  sandbox: Sandbox | undefined
  signal: AbortSignal
}

/**
 * What a node that encodes for others offers: the same encoder. Undefined for a node that shares
 * no artifacts, or does not encode.
 */
export function encodeOffer({ artifacts, database, renditions }: Config): string | undefined {
  const isShared = artifacts !== undefined && database !== undefined
  if (!isShared || renditions.video.length === 0 || !hasDecoderPackage()) return undefined
  return `encodes ${ENCODE_FORMAT} ${decoderVersion()}`
}

export interface OpenEncodedVideo {
  encoder: VideoEncoder
  encodedVideo: EncodedVideo
}

/** Undefined without renditions in the configuration. The caller closes the encoder. */
export function openEncodedVideo(parts: EncodedVideoParts): OpenEncodedVideo | undefined {
  const { config, artifacts, encodeSlots, encodingNodes, logger, sandbox, signal } = parts
  const { video, concurrency } = config.renditions
  if (video.length === 0 || sandbox === undefined) return undefined
  const folder = join(config.data, 'renditions')
  const encoder = createVideoEncoder({ concurrency, log: logger, sandbox })
  const caches = {
    cache: new LimitedFolder({ folder, maxBytes: MAX_CACHE_BYTES }),
    shared: artifacts,
    log: logger,
  }
  const encodedVideo = new EncodedVideo({
    encoder,
    // What others encode comes through the artifacts.
    nodes: artifacts && encodingNodes,
    heights: HEIGHTS.filter((height) => video.includes(`${height}p`)),
    slots: encodeSlots ?? new OwnEncodeSlots({ concurrency }),
    cache: new ClaimedCache({
      ...caches,
      kind: ARTIFACT_KIND,
      extension: 'h264',
      isIntact: (bytes) => unpackFrames(bytes) !== undefined,
    }),
    formatCache: new ClaimedCache({
      ...caches,
      kind: FORMAT_KIND,
      extension: 'json',
      isIntact: (bytes) => unpackFormat(bytes) !== undefined,
    }),
    encoderVersion: decoderVersion(),
    log: logger,
    signal,
  })
  return { encoder, encodedVideo }
}
