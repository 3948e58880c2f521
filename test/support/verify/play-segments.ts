// Decodes every segment of a recording alone, as a player does that starts there.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AVMEDIA_TYPE_VIDEO, AVERROR_EAGAIN, AVERROR_EOF } from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame } from 'node-av/lib'
import type { FormatContext, Packet } from 'node-av/lib'
import { eachPacket, withDemuxer } from '../ffmpeg.ts'

/** A segment after its init, decoded from its first frame on. */
export interface PlayedSegment {
  /** Presentation times of the video in seconds, as the container has them. */
  frameSeconds: number[]
  /** Frames of video in the segment, and those that decoded. */
  frames: number
  decoded: number
  /** Errors of the decoder. */
  errors: number
  startsWithKey: boolean
}

/** Decodes the video of segments, each with its init before it. */
export async function playSegments(
  segments: readonly Uint8Array[],
  extension: 'ts' | 'mp4',
): Promise<PlayedSegment[]> {
  const folder = await mkdtemp(join(tmpdir(), 'aftercast-play-'))
  try {
    const played: PlayedSegment[] = []
    for (const segment of segments) {
      const path = join(folder, `segment.${extension}`)
      await writeFile(path, segment)
      played.push(await playFile(path))
    }
    return played
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Decodes the video of one file. */
export async function playFile(path: string): Promise<PlayedSegment> {
  return withDemuxer(path, playInput, { advanced_editlist: 0 })
}

async function playInput(input: FormatContext): Promise<PlayedSegment> {
  const stream = input.streams.find(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_VIDEO)
  const played: PlayedSegment = {
    frameSeconds: [],
    frames: 0,
    decoded: 0,
    errors: 0,
    startsWithKey: false,
  }
  if (stream === undefined) return played
  const decoder = Codec.findDecoder(stream.codecpar.codecId)
  if (decoder === null) throw new Error('no decoder')
  const context = new CodecContext()
  context.allocContext3(decoder)
  FFmpegError.throwIfError(context.parametersToContext(stream.codecpar), 'parameters')
  context.threadCount = 1
  FFmpegError.throwIfError(context.open2Sync(decoder, null), 'open decoder')
  using frame = new Frame()
  frame.alloc()
  const take = (sent: Packet | null): void => {
    if (context.sendPacketSync(sent) < 0) played.errors += 1
    for (;;) {
      const result = context.receiveFrameSync(frame)
      if (result < 0) {
        if (result !== AVERROR_EAGAIN && result !== AVERROR_EOF) played.errors += 1
        return
      }
      if (frame.decodeErrorFlags !== 0) played.errors += 1
      played.decoded += 1
      frame.unref()
    }
  }
  await eachPacket(input, (packet, { index, timeBase: { num, den } }) => {
    if (index !== stream.index) return
    if (played.frames === 0) played.startsWithKey = packet.isKeyframe
    played.frames += 1
    played.frameSeconds.push((Number(packet.pts) * num) / den)
    take(packet)
  })
  take(null)
  context.freeContext()
  return played
}
